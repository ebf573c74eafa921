/** characters that show nothing, or reverse the direction of the text that follows */
const INVISIBLE =
  /[\p{Cf}\p{Cc}\p{Co}\p{Cn}]|(?![\u115F\u1160\u3164\uFFA0])\p{Default_Ignorable_Code_Point}/gu;
/** also the Hangul fillers and the empty Braille pattern, which look like blanks */
const BLANKS = /[\s\p{Z}\u115F\u1160\u3164\uFFA0\u2800]+/gu;
/** also look-alikes: primes, ditto marks, and letters and accents that stand alone */
const QUOTES =
  /[\p{Quotation_Mark}`´¨˝\u02B9-\u02BC\u02C8\u02CA\u02CB\u02DD\u02EE\u02F5\u02F6\u055A\u05F3\u05F4\u2032-\u2037\u2057\u275B-\u275E\u3003\uA78B\uA78C]+/gu;
/** Mail programs make a link of text that goes on after one of these: `example.com`, `https:`, `ada@…`, `//`, `\\`. */
const DOTS = /([.\u2024\u3002\uFE52\uFF0E\uFF61]+)(?=[^\s.\u2024\u3002\uFE52\uFF0E\uFF61])/gu;
const JOINERS =
  /([:\u02D0\u0589\u05C3\u2236\uA789\uFE13\uFE55\uFF1A]|[\\\u29F5\u29F9\uFE68\uFF3C]|[/\u2044\u2215\u29F8\uFF0F](?=[/\u2044\u2215\u29F8\uFF0F]))(?=\S)/gu;
const AT_SIGNS = /\s*[@\uFE6B\uFF20]\s*/gu;
/** also combining marks at the start, which would change the quotation mark before them */
const EDGES = /^[\s\p{M}]+|\s+$/gu;

// Makes text that one user chose safe in a mail to another: it stays on one line, cannot pass for another part of the
// mail or end its quotation marks, and nothing in it becomes a link (`example.com` reads `example. com`).
export function harmless(text: string): string {
  return text
    .replaceAll(INVISIBLE, (character) => (/\s/.test(character) ? ' ' : ''))
    .replaceAll(QUOTES, "'")
    .replaceAll(DOTS, '$1 ')
    .replaceAll(JOINERS, '$1 ')
    .replaceAll(AT_SIGNS, ' @ ')
    .replaceAll(BLANKS, ' ')
    .replace(EDGES, '');
}
