/**
 * Returns the URL of Accounts without a trailing slash.
 *
 * @throws TypeError for a text without a scheme, such as `localhost:3000`, and for a URL with a password, which `fetch`
 *   would reject with an error that contains the password
 */
export function baseOf(baseUrl: string): string {
  if (!isHttpUrl(baseUrl)) {
    throw new TypeError('baseUrl must be the URL of Accounts, such as https://accounts.example.com');
  }
  const { href, username, password, search, hash } = new URL(baseUrl);
  if (username + password + search + hash !== '') {
    throw new TypeError('baseUrl must have no user, password, query or fragment');
  }
  const base = href.replace(/[/?#]+$/, '');
  if (base.endsWith('/api')) throw new TypeError('baseUrl must end before /api, which the client adds');
  return base;
}

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
