/** characters of the longest language tag */
export const MAX_LOCALE = 35;

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

/** Returns the canonical form of a language tag (BCP 47). */
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
