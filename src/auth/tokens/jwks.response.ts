/** The public half of a signing key (RFC 7517 section 4, RFC 7518 section 6.2.1). */
export class PublicKeyResponse {
  /** @example "EC" */
  kty: string;
  /** @example "P-256" */
  crv: string;
  /** @example "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU" */
  x: string;
  /** @example "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" */
  y: string;
  /** @example "b1nCUvvTPRWpOSJhGAIL2qPG6fXRuYl-Lm6Vp5n1vZ0" */
  kid: string;
  /** @example "ES256" */
  alg: string;
  /** @example "sig" */
  use: string;
}

export class KeySetResponse {
  keys: PublicKeyResponse[];
}
