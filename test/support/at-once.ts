/** Starts all of them in one turn of the event loop and waits for all; one that throws fails the test. */
export function atOnce<T>(tasks: (() => Promise<T>)[]): Promise<T[]> {
  return Promise.all(tasks.map((task) => task()));
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
