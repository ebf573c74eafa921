export const MAX_LOCALE = 35;

const CONTROL = /\p{Cc}/u;

/** Limits the text before its normalization, which is quadratic. Decomposed characters take more units. */
const rawUnitsFor = (characters: number): number => 5 * characters + 12;

export function oneLine(input: unknown, maxCharacters: number): string | undefined {
  if (typeof input !== 'string' || input.length > rawUnitsFor(maxCharacters) || !input.isWellFormed())
    return undefined;
  const line = input.trim().normalize('NFC');
  if (line === '' || [...line].length > maxCharacters || CONTROL.test(line) || line.includes('\uFFFD'))
    return undefined;
  return line;
}

export function canonicalLocale(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > MAX_LOCALE) return undefined;
  try {
    const [locale = ''] = Intl.getCanonicalLocales(input);
    return locale.length <= MAX_LOCALE ? locale : undefined;
  } catch {
    return undefined;
  }
}

export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function timeOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : timeText(epochMs);
}

const RFC_3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function parseTime(input: unknown): number | undefined {
  const [, day] = (typeof input === 'string' && RFC_3339.exec(input)) || [];
  if (day === undefined) return undefined;
  // Date.parse takes the 30th of February for the 2nd of March.
  const midnight = Date.parse(day);
  if (Number.isNaN(midnight) || !timeText(midnight).startsWith(day)) return undefined;
  const time = Date.parse((input as string).toUpperCase());
  return time >= 0 && time <= LAST_MS ? time : undefined;
}
