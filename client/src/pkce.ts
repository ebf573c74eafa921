const VERIFIER_BYTES = 32;

/**
 * PKCE (RFC 7636). The program that exchanges the code creates it and keeps the verifier. The challenge goes to the one that
 * asks for the code: at a login hand-off the client, at a login at a provider Accounts.
 */
export interface Pkce {
  codeVerifier: string;
  challenge: { codeChallenge: string; codeChallengeMethod: 'S256' };
}

export async function createPkce(): Promise<Pkce> {
  const codeVerifier = base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier));
  const codeChallenge = base64url(new Uint8Array(digest));
  return { codeVerifier, challenge: { codeChallenge, codeChallengeMethod: 'S256' } };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
