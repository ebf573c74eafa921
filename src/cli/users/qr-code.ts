import type { WriteStream } from 'node:tty';
import { renderUnicodeCompact } from 'uqr';

const MIN_COLUMNS = 64;
/** ISO/IEC 18004: scanners need four light modules around the code. */
const BORDER = 4;
/** white and black of the 256 colors, which themes leave alone */
const DARK_ON_LIGHT = '\u001B[38;5;231;48;5;16m';
const RESET = '\u001B[0m';

/** Returns no line unless the output is a terminal that is wide enough. */
export function qrCode(text: string, output: Partial<Pick<WriteStream, 'isTTY' | 'columns'>>): string[] {
  const { isTTY = false, columns = 0 } = output;
  const lines = renderUnicodeCompact(text, { border: BORDER }).split('\n');
  if (!isTTY || columns < Math.max(MIN_COLUMNS, lines[0]!.length)) return [];
  return lines.map((line) => `${DARK_ON_LIGHT}${line}${RESET}`);
}
