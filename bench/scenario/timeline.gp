#  timeline.gp: what happened over time, one run of each system
#
#      gnuplot -e "folder='…'; output='….svg'" timeline.gp
#
#  Data sets of a file: requests under way, instances that differ, and the moment
#  when heartbeats go on, of the direction in which the slow peer does what it is
#  told; then the same of the other.

set terminal svg size 1040,760 font "sans-serif,13" background "white"
set output output

reference = folder . "/reference.timeline"
gate = folder . "/gate.timeline"
zpeer = folder . "/zpeer.timeline"
first = -3
last = 38

set style line 1 lc rgb "#c0392b" lw 2 pt 7
set style line 2 lc rgb "#e08e0b" lw 2 pt 7
set style line 3 lc rgb "#1f77b4" lw 2 pt 7
set xrange [first:last]
set tics nomirror out
set border 3
set object 1 rectangle from 0, graph 0 to 15, graph 1 behind \
    fc rgb "#eeeeee" fs solid noborder
set multiplot

#  Left column: it does not do what it answers too late; right: it does
do for [side = 0:1] {
    under_way = side ? 0 : 3
    differ = under_way + 1
    resumed = under_way + 2
    set lmargin at screen 0.10 + 0.485 * side
    set rmargin at screen 0.495 + 0.485 * side

    set tmargin at screen 0.91
    set bmargin at screen 0.55
    set title (side ? "Done by the slow peer, and answered too late" \
        : "Not done by the slow peer, as it is answered too late")
    set ylabel (side ? "" : "instances of 4,000\nthat differ from the source")
    set yrange [0:4200]
    set ytics 1000
    set format x ""
    unset xlabel
    if (side == 0) { set key at screen 0.54, 0.99 center top maxrows 1 }
    plot reference index differ with steps ls 1 title "reference", \
        gate index differ with steps ls 2 title "with the gate", \
        zpeer index differ with steps ls 3 title "zpeer", \
        keyentry with points pt 7 lc rgb "#555555" title "heartbeats go on", \
        reference index resumed ls 1 notitle, \
        gate index resumed ls 2 notitle, zpeer index resumed ls 3 notitle

    unset title
    unset key
    set yrange [0:7]
    set ytics 3
    do for [i = 1:3] {
        set tmargin at screen 0.63 - 0.13 * i
        set bmargin at screen 0.53 - 0.13 * i
        set ylabel (side ? "" : (i == 2 ? "requests under way" : ""))
        set format x (i == 3 ? "%g" : "")
        set xlabel (i == 3 ? "seconds since the outage began; it lasts 15" : "")
        file = word (reference . " " . gate . " " . zpeer, i)
        plot file index under_way with steps ls i lw 1 notitle
    }
}
unset multiplot
