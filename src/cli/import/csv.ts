import { CannotRunError } from '../command/definition.js';
import { type ImportFormat, Refused, unknownField } from './format.js';
import { JSONL } from './jsonl.js';
import { type Row, textOf } from './records.js';

/** The fields of JSONL in columns, which the header names. No field can contain a line break, so a line is a row. */
export const CSV: ImportFormat = { ...JSONL, readerOfLines: readRows };

function readRows(): (line: Buffer) => Row | Refused | undefined {
  let header: string[] | undefined;
  return (line) => {
    const cells = cellsOf(textOf(line)?.replace(/\r$/, ''));
    if (header === undefined) return void (header = headerIn(cells));
    if (cells?.length !== header.length) return new Refused('invalid_csv');
    const values = header.map((name, index) => [name, valueOf(name, cells[index]!)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  };
}

function headerIn(cells: string[] = []): string[] {
  const header = cells.map((cell) => cell.trim());
  const missing = ['email', 'passwordHash'].find((name) => !header.includes(name));
  const unknown = header.find((name) => !Object.hasOwn(JSONL.fields, name));
  if (missing) throw new CannotRunError(`the first line has no column ${missing}, between commas`);
  if (unknown !== undefined) throw new CannotRunError(`the first line: ${unknownField(unknown).reason}`);
  if (new Set(header).size < header.length) throw new CannotRunError('the first line names a column twice');
  return header;
}

/** An empty cell has no value; as a hash, it means that the user has no password. */
function valueOf(name: string, cell: string): unknown {
  if (cell === '') return name === 'passwordHash' ? null : undefined;
  if (name !== 'emailVerified' && name !== 'disabled') return cell;
  const word = cell.toLowerCase();
  return word === 'true' || (word === 'false' ? false : cell);
}

const CELL = /"((?:[^"]|"")*)"(?=,|$)|([^",]*)(?=,|$)/y;

/** RFC 4180, on one line. A cell is text: nothing evaluates a formula. */
export function cellsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const cells: string[] = [];
  for (let at = 0; ; at += 1) {
    CELL.lastIndex = at;
    const [whole, quoted, plain = ''] = CELL.exec(text) ?? [];
    if (whole === undefined) return undefined;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    at += whole.length;
    if (at === text.length) return cells;
  }
}
