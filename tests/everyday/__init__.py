"""What anybody may type: answers, refusals and exit statuses of the command; and questions by chance."""
