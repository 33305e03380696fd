#  Draws bench/plots from what plots.py wrote
#
#      gnuplot -e "data='FOLDER'; plots='FOLDER'" bench/reference/plots.gp
#
#  A file's columns: number; tasks/s: median, lowest, highest; CPU: the same.

reference = "#b35806"
zpeer = "#2166ac"

set encoding utf8
set border 3 lw 1 lc rgb "#404040"
set tics nomirror textcolor rgb "#404040"
set grid y lc rgb "#d8d8d8" lt 1 lw 0.5
set bars 0.6
set style line 1 lc rgb reference lw 2 pt 7 ps 0.6
set style line 2 lc rgb zpeer lw 2 pt 5 ps 0.6

#  Over peers or instances -----------------------------------------------------

set terminal svg size 640,400 dynamic background "white" \
    font "Helvetica,Arial,sans-serif,13"
set logscale xy
set format y "%.0s %c"

set xlabel "peers"
set xtics (1, 2, 4, 8, 16, 32)
set xrange [0.9:36]
set ylabel "tasks a second, all peers together"
set yrange [10000:10000000]
set key inside right bottom vertical samplen 2 spacing 1.3
set output plots."/rate-peers.svg"
set title "Highest rate without loss, best settings"
plot data."/peers-zpeer" using 1:2:3:4 with yerrorlines ls 2 title "zpeer", \
     data."/peers-reference" using 1:2:3:4 with yerrorlines ls 1 \
        title "reference, best built"

set format y "%g"
set ylabel "CPU of a task, µs"
set yrange [0.1:100]
set key inside right top
set output plots."/cpu-peers.svg"
set title "CPU of a task, best settings"
plot data."/peers-reference" using 1:5:6:7 with yerrorlines ls 1 \
        title "reference, best built", \
     data."/peers-zpeer" using 1:5:6:7 with yerrorlines ls 2 title "zpeer"

set xlabel "instances"
set xtics auto
set xtics ("1,000" 1000, "10,000" 10000, "100,000" 100000, "1,000,000" 1000000)
set xrange [800:1250000]
set output plots."/cpu-instances.svg"
set title "CPU of a task, one peer, best settings"
plot data."/instances-reference" using 1:5:6:7 with yerrorlines ls 1 \
        title "reference, best built", \
     data."/instances-zpeer" using 1:5:6:7 with yerrorlines ls 2 title "zpeer"

#  Latency: three rates beside each other --------------------------------------

set terminal svg size 960,420 dynamic background "white" \
    font "Helvetica,Arial,sans-serif,12"
unset logscale x
set logscale y
set yrange [0.5:2000]
set xrange [-0.6:4.6]
unset xlabel
set xtics auto rotate by -40 left scale 0
set style fill solid noborder
set style data histogram
set style histogram clustered gap 1
set boxwidth 1
unset key
set output plots."/latency.svg"
set multiplot layout 1,3 margins 0.075,0.975,0.29,0.84 spacing 0.045 \
    title "From the event to the peer's receipt, one peer"

#  A key has no room beside the bars
array shade[3] = ["#9ecae1", "#4292c6", "#084594"]
array percentile[3] = ["p50", "p99", "highest"]
do for [i = 1:3] {
    set label i "■ ".percentile[i] at screen 0.69 + 0.07 * i, 0.955 \
        textcolor rgb shade[i]
}

rates = "100 1000 10000"
labels = "100 1,000 10,000"
do for [i = 1:3] {
    set title word(labels, i)." events a second"
    if (i == 1) { set ylabel "ms" } else { unset ylabel }
    file = data."/latency-".word(rates, i)
    plot for [c = 1:3] file using c + 1:xtic(1) notitle lc rgb shade[c]
    unset label
}
unset multiplot
