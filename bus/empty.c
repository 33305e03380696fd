typedef int zpeer_bus_empty_t;
