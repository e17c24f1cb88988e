int main(void) { return 78; }
