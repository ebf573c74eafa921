import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import {
  MinRole,
  MinRoleDirectly,
  Public,
  SignedIn,
  SignedInDirectly,
  SignedInRecently,
} from '../access/access.decorators.js';
import type { Origin, UserActor, UserPrincipal } from '../access/principal.js';
import { apiKeysAssurance } from '../access/route-access.js';
import { EntityIdPipe, OK, OkResponse, OrgRead } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import { CurrentActor, CurrentUser, RequestOrigin } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import { OrgWrite } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { SERVICE_NEEDED } from '../services/service-secrets.js';
import { ApiKeyRevocations } from './api-key-revocations.js';
import { CreateApiKeyRequest, KEY_CREATIONS, KEY_PARAM, RevokeFoundKeyRequest } from './api-keys.requests.js';
import {
  ApiKeysResponse,
  CreatedApiKeyResponse,
  CreatedOrgApiKeyResponse,
  OrgApiKeysResponse,
} from './api-keys.responses.js';
import { ApiKeysService } from './api-keys.service.js';

const CREATION_PROBLEMS = [
  invalidFields({
    name: 'must be text of 1 to 60 characters without control characters',
    audience: SERVICE_NEEDED,
  }),
  'too_many_keys',
] as const;

@Controller('api/me/keys')
export class OwnApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  /**
   * Create an API key
   *
   * @remarks Creates an API key, with which a program acts as the user at one service. Returns `key` only this once.
   *
   * The API key never has more than its user has at that moment. The user gets an email, if the user's email is
   * verified. A user can have 50 API keys.
   */
  @Post()
  @ApiBody({ type: CreateApiKeyRequest, examples: KEY_CREATIONS })
  @SignedInRecently()
  @ApiProblems(...CREATION_PROBLEMS)
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
  @SignedInDirectly()
  @ApiParam(KEY_PARAM)
  @ApiProblems('key_not_found')
  revokeApiKey(
    @CurrentActor() actor: UserActor,
    @Param('keyId', EntityIdPipe) id: string,
  ): Promise<OkResponse> {
    return this.keys.revokeOwn(actor, id).then(() => OK);
  }
}

@Controller('api/orgs/:orgId/keys')
export class OrgApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  /**
   * Create an organization's API key
   *
   * @remarks Creates an API key, with which a program acts as the caller at one service, limited to the organization.
   * Returns `key` only this once.
   *
   * The role is at most that of the caller. The API key never has more than its user has at that moment. The caller
   * gets an email, if the caller's email is verified. An organization can have 100 API keys.
   */
  @Post()
  @MinRole('admin', { assurance: apiKeysAssurance })
  @OrgWrite()
  @ApiBody({ type: CreateApiKeyRequest, examples: KEY_CREATIONS })
  @ApiProblems(...CREATION_PROBLEMS)
  createOrgApiKey(
    @CurrentWrite() write: Write,
    @CurrentUser() caller: UserPrincipal,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Body() body: CreateApiKeyRequest,
  ): Promise<CreatedOrgApiKeyResponse> {
    return tagged(this.keys.createOfOrg(write, caller, orgId, body));
  }

  /**
   * List an organization's API keys
   *
   * @remarks Returns the API keys of the organization, latest first, and the services that accept API keys.
   */
  @Get()
  @MinRole('admin')
  @OrgRead()
  @GatedRead()
  listOrgApiKeys(
    @CurrentUser() caller: UserPrincipal,
    @Param('orgId') orgId: string,
  ): Promise<OrgApiKeysResponse> {
    return this.keys.listOfOrg(orgId, caller);
  }

  /**
   * Revoke an organization's API key
   *
   * @remarks Revokes an API key of the organization, which no longer works. Admins can revoke API keys of other users.
   */
  @Delete(':keyId')
  @MinRoleDirectly('admin')
  @OrgWrite()
  @ApiParam(KEY_PARAM)
  @ApiProblems('key_not_found')
  revokeOrgApiKey(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Param('orgId') orgId: string,
    @Param('keyId', EntityIdPipe) id: string,
  ): Promise<OkResponse> {
    return tagged(this.keys.revokeOfOrg(write, orgId, id));
  }
}

@Controller('api/keys')
export class FoundApiKeysController {
  constructor(private readonly keys: ApiKeyRevocations) {}

  /**
   * Revoke a found API key
   *
   * @remarks Revokes the first API key that the text in the body contains, such as a line of source code. Its user gets
   * an email, if the user's email is verified.
   *
   * The response is the same for every text, even if it contains no API key.
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
