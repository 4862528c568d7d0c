"""What is written for people: feedback, reports, and marks for other programs."""
