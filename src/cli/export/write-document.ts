/** The members of a JSON object, in order. Long lists are async iterables, so that memory never holds all of one. */
export type DocumentParts = Record<string, string | object | AsyncIterable<object>>;

/** @param newLine separates members and elements; empty if the document has to be one line */
export async function writeDocument(
  parts: DocumentParts,
  newLine: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  let separator = '{';
  for (const [name, value] of Object.entries(parts)) {
    await write(`${separator}${newLine}${JSON.stringify(name)}:`);
    if (isList(value)) await writeList(value, newLine, write);
    else await write(JSON.stringify(value));
    separator = ',';
  }
  await write(`${newLine}}\n`);
}

async function writeList(
  list: AsyncIterable<object>,
  newLine: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  let separator = '[';
  for await (const element of list) {
    await write(`${separator}${newLine}${JSON.stringify(element)}`);
    separator = ',';
  }
  await write(separator === '[' ? '[]' : `${newLine}]`);
}

function isList(value: DocumentParts[string]): value is AsyncIterable<object> {
  return typeof value === 'object' && Symbol.asyncIterator in value;
}
