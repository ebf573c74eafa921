import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { issuerUrl } from '../../config/issuer.js';
import { INTROSPECTION_PATH, JWKS_PATH } from '../../http/paths.js';
import { IssuerNotDiscoverableError } from './tokens.errors.js';
import type { ServerMetadata } from './tokens.responses.js';

@Injectable()
export class DiscoveryService {
  constructor(private readonly env: Env) {}

  get metadata(): ServerMetadata {
    const issuer = this.env.jwtIssuer;
    const url = issuerUrl(issuer);
    if (!url) throw new IssuerNotDiscoverableError();
    return {
      issuer,
      jwks_uri: url.base + JWKS_PATH,
      introspection_endpoint: url.base + INTROSPECTION_PATH,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    };
  }
}
