import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { AllowedServices } from '../access/access.decorators.js';
import { CurrentService } from '../http/request-origin.js';
import type { ServicePrincipal } from '../access/principal.js';
import { FormBody } from '../http/bodies.js';
import { INTROSPECTION_PATH } from '../http/paths.js';
import { ApiProblems, ApiUnion, invalidFields } from '../openapi/decorators.js';
import {
  ActiveToken,
  InactiveToken,
  INTROSPECTIONS,
  IntrospectTokenRequest,
} from './introspection.responses.js';
import { IntrospectionForm, TOKEN_NEEDED } from './introspection-form.decorator.js';
import { IntrospectionService } from './introspection.service.js';

@ApiTags('Services')
@Controller(INTROSPECTION_PATH)
export class IntrospectionController {
  constructor(private readonly introspection: IntrospectionService) {}

  /**
   * Ask whether an access token is valid now
   *
   * @remarks Introspection of RFC 7662. Every token that is not valid now gets the same answer: one that is malformed,
   * expired or revoked, one of a disabled user, and one that is meant for another service. With `orgId` the answer also
   * tells the user's role in that organization.
   */
  @Post()
  @HttpCode(200)
  @AllowedServices('introspect')
  @FormBody()
  @ApiBody({ type: IntrospectTokenRequest, examples: INTROSPECTIONS })
  @ApiUnion(200, 'IntrospectionResult', ActiveToken, InactiveToken)
  @ApiProblems(invalidFields({ token: TOKEN_NEEDED }))
  introspectToken(
    @CurrentService() asker: ServicePrincipal,
    @IntrospectionForm() form: IntrospectionForm,
  ): Promise<ActiveToken | InactiveToken> {
    return this.introspection.introspect(asker, form);
  }
}
