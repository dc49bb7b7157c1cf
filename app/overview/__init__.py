"""What a collection holds before anyone asks: questions that it answers, a summary and an outline of each document."""
