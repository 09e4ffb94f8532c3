auto answer = limits::answer_timeout;
