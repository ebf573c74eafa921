/** enough for every browser, and all that the column holds */
const MAX_LENGTH = 200;

/** Reads what a client calls itself (RFC 9110 section 10.1.5), to be shown to its user; null if it says nothing. */
export function userAgentOf(header: string | undefined): string | null {
  return (
    header
      ?.slice(0, MAX_LENGTH)
      .replace(/\p{Cc}/gu, '')
      .trim() || null
  );
}
