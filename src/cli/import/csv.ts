import { CannotRunError } from '../command/definition.js';
import { type ImportFormat, Refused, unknownField } from './format.js';
import { JSONL } from './jsonl.js';
import { type Row, textOf } from './records.js';

/** The fields of JSONL in columns, which the header names. No field can contain a line break, so a line is a row. */
export const CSV: ImportFormat = { ...JSONL, readerOfLines: readRows };

function readRows(): (line: Buffer) => Row | Refused | undefined {
  return rowsOfCsv(userColumns, userValue);
}

/** @param headerIn the names of the columns, from the first line @throws CannotRunError */
export function rowsOfCsv(
  headerIn: (cells: string[] | undefined) => string[],
  valueOf: (name: string, cell: string) => unknown,
): (line: Buffer) => Row | Refused | undefined {
  let header: string[] | undefined;
  let separator: Separator = ',';
  return (line) => {
    const text = textOf(line)?.replace(/\r$/, '');
    // Excel writes semicolons where the comma is the decimal point.
    if (header === undefined && /^[^,]*;/.test(text ?? '')) separator = ';';
    const cells = cellsOf(text, separator);
    if (header === undefined) return void (header = headerIn(cells));
    if (cells?.length !== header.length) return new Refused('invalid_csv');
    const values = header.map((name, index) => [name, valueOf(name, cells[index]!)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  };
}

function userColumns(cells: string[] = []): string[] {
  return columnsIn(cells, Object.keys(JSONL.fields), ['email', 'passwordHash']);
}

/** Ignores case, since Excel may have changed it. */
export function columnsIn(cells: string[], known: string[], required: string[]): string[] {
  const nameOf = (cell: string): string =>
    known.find((name) => name.toLowerCase() === cell.toLowerCase()) ?? cell;
  const header = cells.map((cell) => nameOf(cell.trim()));
  const missing = required.find((name) => !header.includes(name));
  const unknown = header.find((name) => !known.includes(name));
  if (missing)
    throw new CannotRunError(`the first line has no column ${missing}, between commas or semicolons`);
  if (unknown !== undefined) throw new CannotRunError(`the first line: ${unknownField(unknown).reason}`);
  if (new Set(header).size < header.length) throw new CannotRunError('the first line names a column twice');
  return header;
}

/** An empty cell has no value; as a hash, it means that the user has no password. */
function userValue(name: string, cell: string): unknown {
  if (cell === '') return name === 'passwordHash' ? null : undefined;
  if (name !== 'emailVerified' && name !== 'disabled') return cell;
  const word = cell.toLowerCase();
  return word === 'true' || (word === 'false' ? false : cell);
}

type Separator = ',' | ';';

const CELLS: Record<Separator, RegExp> = {
  ',': /"((?:[^"]|"")*)"(?=,|$)|([^",]*)(?=,|$)/y,
  ';': /"((?:[^"]|"")*)"(?=;|$)|([^";]*)(?=;|$)/y,
};

/** RFC 4180, on one line. A cell is text: nothing evaluates a formula. */
function cellsOf(text: string | undefined, separator: Separator): string[] | undefined {
  if (text === undefined) return undefined;
  const cells: string[] = [];
  for (let at = 0; ; at += 1) {
    CELLS[separator].lastIndex = at;
    const [whole, quoted, plain = ''] = CELLS[separator].exec(text) ?? [];
    if (whole === undefined) return undefined;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    at += whole.length;
    if (at === text.length) return cells;
  }
}
