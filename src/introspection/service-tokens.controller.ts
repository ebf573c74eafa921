import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { AllowedServices } from '../access/access.decorators.js';
import type { ServicePrincipal } from '../access/principal.js';
import { FormBody } from '../http/bodies.js';
import { TOKEN_PATH } from '../http/paths.js';
import { CurrentService } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { SERVICE_NEEDED } from '../services/service-secrets.js';
import { ServiceTokenForm, ServiceTokenRequest, TOKEN_REQUESTS } from './service-tokens.requests.js';
import { ServiceTokenResponse } from './service-tokens.responses.js';
import { ServiceTokens } from './service-tokens.service.js';

@Controller(TOKEN_PATH)
export class ServiceTokensController {
  constructor(private readonly tokens: ServiceTokens) {}

  /**
   * Get a token for a call
   *
   * @remarks Returns an access token with which a service can call another one, for a user or for itself (RFC 6749, RFC
   * 8693). An operator must have allowed the call. Nothing is stored, so a request can be repeated.
   *
   * For a user, exchange an access token or an API key that is for the calling service. The new token names every service
   * on its way, at most four, and ends with the session of the user or the API key. A token for an API key needs the
   * scope `keys` of the called service.
   *
   * An access token is valid for 5 minutes, and never longer than the subject token.
   */
  @Post()
  @HttpCode(200)
  @AllowedServices()
  @FormBody()
  @ApiBody({ type: ServiceTokenRequest, examples: TOKEN_REQUESTS })
  @ApiOkResponse({ type: ServiceTokenResponse })
  @ApiProblems(
    invalidFields({ audience: SERVICE_NEEDED }),
    'unsupported_grant_type',
    'invalid_subject_token',
    'invalid_target',
  )
  issueServiceToken(
    @CurrentService() service: ServicePrincipal,
    @ServiceTokenForm() { audience, subjectToken }: ServiceTokenForm,
  ): Promise<ServiceTokenResponse> {
    return subjectToken === undefined
      ? this.tokens.issueOwn(service, audience)
      : this.tokens.exchange(service, audience, subjectToken);
  }
}
