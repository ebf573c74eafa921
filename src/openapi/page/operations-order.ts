/** As Swagger UI has an operation; it is an immutable Map. */
interface Operation {
  get(key: 'method'): string;
}

/** Swagger UI's `operationsSorter`: what ends something comes last. The page gets the text of this function. */
export const deletionsLast = (one: Operation, other: Operation): number =>
  Number(one.get('method') === 'delete') - Number(other.get('method') === 'delete');
