import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import { Public, SignedIn, SignedInByPassword, SignedInRecently } from '../access/access.decorators.js';
import type { Origin, UserActor, UserPrincipal } from '../access/principal.js';
import { EntityIdPipe, OK, OkResponse } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import { CurrentActor, CurrentUser, RequestOrigin } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { SERVICE_NEEDED } from '../services/service-secrets.js';
import { CreateApiKeyRequest, KEY_CREATIONS, KEY_PARAM, RevokeFoundKeyRequest } from './api-keys.requests.js';
import { ApiKeysResponse, CreatedApiKeyResponse } from './api-keys.responses.js';
import { ApiKeysService } from './api-keys.service.js';

@Controller('api/me/keys')
export class OwnApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  /**
   * Create an API key
   *
   * @remarks Creates an API key, with which a program acts as the user at one service. Returns `key` only this once.
   *
   * The API key never has more than its user has at that moment. The user gets an email. A user can have 50 of them.
   */
  @Post()
  @ApiBody({ type: CreateApiKeyRequest, examples: KEY_CREATIONS })
  @SignedInRecently()
  @ApiProblems(
    invalidFields({
      name: 'must be text of 1 to 60 characters without control characters',
      audience: SERVICE_NEEDED,
    }),
    'too_many_keys',
  )
  createApiKey(
    @CurrentActor() actor: UserActor,
    @CurrentUser() { epoch }: UserPrincipal,
    @Body() body: CreateApiKeyRequest,
  ): Promise<CreatedApiKeyResponse> {
    return this.keys.createOwn(actor, epoch, body);
  }

  /**
   * List the API keys
   *
   * @remarks Returns the API keys of the user, latest first, and the services that accept API keys. An organization
   * lists its own.
   */
  @Get()
  @SignedIn()
  @GatedRead()
  listApiKeys(@CurrentUser() { id }: UserPrincipal): Promise<ApiKeysResponse> {
    return this.keys.listOwn(id);
  }

  /**
   * Revoke an API key
   *
   * @remarks Revokes an API key of the user, which no longer works.
   */
  @Delete(':keyId')
  @SignedInByPassword()
  @ApiParam(KEY_PARAM)
  @ApiProblems('key_not_found')
  revokeApiKey(
    @CurrentActor() actor: UserActor,
    @Param('keyId', EntityIdPipe) id: string,
  ): Promise<OkResponse> {
    return this.keys.revokeOwn(actor, id).then(() => OK);
  }
}

@Controller('api/keys')
export class FoundApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  /**
   * Revoke a found API key
   *
   * @remarks Revokes the API key in the body, such as one that was found in source code. Its user gets an email.
   *
   * The response is the same for every text, even if it is no API key.
   */
  @Post('revoke')
  @HttpCode(200)
  @Public()
  @ApiProblems(invalidFields({ key: 'must be a string' }))
  revokeFoundApiKey(
    @Body() { key }: RevokeFoundKeyRequest,
    @RequestOrigin() origin: Origin,
  ): Promise<OkResponse> {
    return this.keys.report(key, origin).then(() => OK);
  }
}
