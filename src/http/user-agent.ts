/** Enough for every browser; what it is stored in holds no more. */
const MAX_LENGTH = 200;

/** What a client calls itself (RFC 9110 section 10.1.5), to be shown to its user; null where it says nothing. */
export function userAgentOf(header: string | undefined): string | null {
  return (
    header
      ?.slice(0, MAX_LENGTH)
      .replace(/\p{Cc}/gu, '')
      .trim() || null
  );
}
