/** Nothing is seen of them, or they turn the direction of what follows. */
const INVISIBLE =
  /[\p{Cf}\p{Cc}\p{Co}\p{Cn}]|(?![\u115F\u1160\u3164\uFFA0])\p{Default_Ignorable_Code_Point}/gu;
/** Also letters and a pattern without a dot, which look like blanks: of Hangul, and of Braille. */
const BLANKS = /[\s\p{Z}\u115F\u1160\u3164\uFFA0\u2800]+/gu;
/** With what looks like one: primes, ditto marks, letters and accents that stand alone. */
const QUOTES =
  /[\p{Quotation_Mark}`´¨˝\u02B9-\u02BC\u02C8\u02CA\u02CB\u02DD\u02EE\u02F5\u02F6\u055A\u05F3\u05F4\u2032-\u2037\u2057\u275B-\u275E\u3003\uA78B\uA78C]+/gu;
/** A mail program makes a link of text that goes on behind one of these: `example.com`, `https:`, `ada@…`, `//`, `\\`. */
const DOTS = /([.\u2024\u3002\uFE52\uFF0E\uFF61]+)(?=[^\s.\u2024\u3002\uFE52\uFF0E\uFF61])/gu;
const JOINERS =
  /([:\u02D0\u0589\u05C3\u2236\uA789\uFE13\uFE55\uFF1A]|[\\\u29F5\u29F9\uFE68\uFF3C]|[/\u2044\u2215\u29F8\uFF0F](?=[/\u2044\u2215\u29F8\uFF0F]))(?=\S)/gu;
const ATS = /\s*[@\uFE6B\uFF20]\s*/gu;
/** At the beginning: also marks, which would change the quotation mark before them. */
const STICKING = /^[\s\p{M}]+|\s+$/gu;

/**
 * Text that somebody chose, as one line of a mail to somebody else: it looks like no part of the mail around it, cannot
 * end the quotation marks that it stands in, and holds nothing that becomes a link. `example.com` reads `example. com`.
 */
export function harmless(text: string): string {
  return text
    .replaceAll(INVISIBLE, (character) => (/\s/.test(character) ? ' ' : ''))
    .replaceAll(QUOTES, "'")
    .replaceAll(DOTS, '$1 ')
    .replaceAll(JOINERS, '$1 ')
    .replaceAll(ATS, ' @ ')
    .replaceAll(BLANKS, ' ')
    .replace(STICKING, '');
}
