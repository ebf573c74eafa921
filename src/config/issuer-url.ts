export interface IssuerUrl {
  /** without a slash at its end */
  base: string;
  /** empty where the issuer is at the root of its host */
  path: string;
}

// Clients can discover an issuer only by a URL without query and fragment (RFC 8414 section 2). `http` is allowed for
// development and for networks of one's own.
export function issuerUrl(issuer: string): IssuerUrl | undefined {
  if (!/^https?:\/\/[^\s?#\\]+$/.test(issuer) || !URL.canParse(issuer)) return undefined;
  const { username, password, pathname } = new URL(issuer);
  if (username !== '' || password !== '') return undefined;
  return { base: issuer.replace(/\/$/, ''), path: pathname.replace(/\/$/, '') };
}
