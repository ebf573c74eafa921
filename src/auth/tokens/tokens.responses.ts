import { ApiProperty } from '@nestjs/swagger';
import { ApiBase64Url, ApiText } from '../../openapi/decorators.js';

/** The public half of a signing key (RFC 7517 section 4, RFC 7518 section 6.2.1). */
export class PublicKey {
  /** @example "EC" */
  kty: 'EC';
  /** @example "P-256" */
  crv: 'P-256';
  @ApiBase64Url(43, { example: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU' }) x: string;
  @ApiBase64Url(43, { example: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' }) y: string;
  @ApiText(1, undefined, { example: 'b1nCUvvTPRWpOSJhGAIL2qPG6fXRuYl-Lm6Vp5n1vZ0' }) kid: string;
  /** @example "ES256" */
  alg: 'ES256';
  /** @example "sig" */
  use: 'sig';
}

export class KeySet {
  keys: PublicKey[];
}

export const GRANT_TYPES = ['client_credentials', 'urn:ietf:params:oauth:grant-type:token-exchange'] as const;

/** The subset of RFC 8414 section 2 that is true here, under its names. */
export class ServerMetadata {
  /** The issuer: the claim `iss` of every access token. */
  @ApiProperty({ format: 'uri', example: 'https://accounts.example.com' }) issuer: string;
  @ApiProperty({ format: 'uri', example: 'https://accounts.example.com/.well-known/jwks.json' })
  jwks_uri: string;
  /** Where services get tokens for calls to other services. */
  @ApiProperty({ format: 'uri', example: 'https://accounts.example.com/api/auth/token' })
  token_endpoint: string;
  /** @example ["client_secret_basic"] */
  token_endpoint_auth_methods_supported: 'client_secret_basic'[];
  @ApiProperty({ isArray: true, enum: GRANT_TYPES, example: [...GRANT_TYPES] })
  grant_types_supported: (typeof GRANT_TYPES)[number][];
  @ApiProperty({ format: 'uri', example: 'https://accounts.example.com/api/auth/introspect' })
  introspection_endpoint: string;
  /** @example ["client_secret_basic"] */
  introspection_endpoint_auth_methods_supported: 'client_secret_basic'[];
}
