typedef int zpeer_actors_empty_t;
