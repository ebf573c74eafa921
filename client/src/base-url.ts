/**
 * Returns the URL of Accounts without a slash at its end.
 *
 * @throws TypeError for a text that is no such URL, such as `localhost:3000`, which begins with no scheme, and for a URL
 *   with a password, which `fetch` would refuse with an error that shows it
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
