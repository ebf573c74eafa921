import { ApiProperty } from '@nestjs/swagger';

/** The subset of RFC 8414 section 2 that is true here, under its names. */
export class ServerMetadata {
  /**
   * `iss` of every token
   * @example "https://accounts.example.com"
   */
  @ApiProperty({ format: 'uri' })
  issuer: string;
  /** @example "https://accounts.example.com/.well-known/jwks.json" */
  @ApiProperty({ format: 'uri' })
  jwks_uri: string;
  /** @example "https://accounts.example.com/api/auth/introspect" */
  @ApiProperty({ format: 'uri' })
  introspection_endpoint: string;
  /** @example ["client_secret_basic"] */
  introspection_endpoint_auth_methods_supported: 'client_secret_basic'[];
}
