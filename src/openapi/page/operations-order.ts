/** Swagger UI's form of an operation, which is an immutable Map */
interface Operation {
  get(key: 'method'): string;
}

/** Serves as Swagger UI's `operationsSorter`. The page gets the text of this function. */
export const deletionsLast = (one: Operation, other: Operation): number =>
  Number(one.get('method') === 'delete') - Number(other.get('method') === 'delete');
