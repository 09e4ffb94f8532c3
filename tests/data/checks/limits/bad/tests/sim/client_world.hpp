auto answer = limits::only_kept_max;
