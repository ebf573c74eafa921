/**
 * Returns the revision of an organization that a client has seen, for `atLeast`. The client sends it in the header
 * `Accounts-Revision: <orgId>=<revision>`, with commas between several organizations. The revision may have the quotes of
 * an `ETag`.
 *
 * @returns undefined if the header has no revision of the organization
 */
export function revisionOf(
  header: string | readonly string[] | undefined,
  orgId: string,
): number | undefined {
  const parts = [header ?? []].flat().flatMap((text) => text.split(','));
  const revisions = parts.flatMap((part) => {
    const [id, revision = '', ...more] = part.split('=');
    if (id!.trim() !== orgId || more.length > 0) return [];
    const digits = /^\s*("?)(\d{1,15})\1\s*$/.exec(revision)?.[2];
    return digits === undefined ? [] : [Number(digits)];
  });
  return revisions.length > 0 ? Math.max(...revisions) : undefined;
}
