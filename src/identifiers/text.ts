const CONTROL = /\p{Cc}/u;

/** Limits the text before its normalization, which is quadratic. Decomposed characters take more units. */
const rawUnitsFor = (characters: number): number => 5 * characters + 12;

/** Returns the stored form: trimmed, in NFC, without control characters. */
export function oneLine(input: unknown, maxCharacters: number): string | undefined {
  if (typeof input !== 'string' || input.length > rawUnitsFor(maxCharacters) || !input.isWellFormed())
    return undefined;
  const line = input.trim().normalize('NFC');
  if (line === '' || [...line].length > maxCharacters || CONTROL.test(line) || line.includes('\uFFFD'))
    return undefined;
  return line;
}

export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function timeOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : timeText(epochMs);
}
