import { Body, Controller, Delete, Get, Param, Patch, Query, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { SignedIn, SignedInDirectly } from '../access/access.decorators.js';
import { BOUND_TOKEN } from '../access/route-access.js';
import { Client, type HashClient } from '../auth/passwords/hash-queue.js';
import { ApiPage, EntityIdPipe, OK, OkResponse } from '../http/fields.js';
import { GatedRead, ReadPage } from '../http/read-gate.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { profileTagHeader } from '../openapi/headers.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import { WriteRoute } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import {
  DeleteAccountRequest,
  EndSessionsQuery,
  ListOwnOrgsQuery,
  NO_PROVIDER_LOGIN,
  PROFILE_CHANGES,
  UpdateProfileRequest,
} from './me.requests.js';
import { OwnProfile } from '../accounts/own-profile.js';
import { OwnDeletion } from '../accounts/user-deletion.js';
import { CurrentActor, CurrentUser } from '../http/request-origin.js';
import type { UserActor, UserPrincipal } from '../access/principal.js';
import { ApiIncluded, Included } from '../http/included.js';
import { EventsService, ownEvent } from '../events/events.service.js';
import { OwnEventsResponse } from '../events/events.responses.js';
import { ListEventsQuery } from '../events/events.query.js';
import { ExportResponse } from './export.responses.js';
import { MeService } from './me.service.js';
import {
  AccountResponse,
  DeletedOrgsResponse,
  CurrentUserResponse,
  OrgMembershipsResponse,
  ProfileResponse,
  SessionsResponse,
} from './me.responses.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { sessionView, sessionWithLogin, UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import { PROFILE, PROFILE_CHANGED } from '../users/profile.js';
import { SessionsService } from '../auth/sessions/sessions.service.js';

const ORG_ID = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';
const PARTS = ['roles', 'account', 'profile', 'requirements'] as const;
const ORG_PARTS = ['requirements'] as const;
const SESSION_PARTS = ['login'] as const;
const ACCOUNT_PARTS = ['logins'] as const;

const REQUIREMENTS = 'adds `suspended` and `secondFactorRequiredFrom` to each organization';

@Controller('api/me')
export class MeController {
  constructor(
    private readonly me: MeService,
    private readonly profiles: OwnProfile,
    private readonly deletion: OwnDeletion,
    private readonly events: EventsService,
    private readonly userSessions: UserSessionsRepository,
    private readonly sessions: SessionsService,
    private readonly revocation: SessionRevocation,
  ) {}

  /**
   * Get the current user
   *
   * @remarks Returns the user and the user's organizations in order of joining. `include` adds the roles, whether the
   * email is verified, the profile, and what the organizations require. An access token for one service gets no profile.
   */
  @Get()
  @SignedIn({ boundTokens: true, unverified: true })
  @ApiIncluded(
    PARTS,
    'Additional fields: `roles` adds the `role` of the user to each organization, `account` adds `emailVerified` ' +
      `to the user, \`profile\` adds the profile, and \`requirements\` ${REQUIREMENTS}.`,
  )
  @ApiProblems({ code: 'insufficient_scope', detail: BOUND_TOKEN })
  @ApiOkResponse({ type: CurrentUserResponse })
  @GatedRead()
  getMe(
    @CurrentUser() caller: UserPrincipal,
    @Included(PARTS) included: Included,
    @ReadPage() readPage: ReadPage,
  ): Promise<CurrentUserResponse | StreamableFile> {
    return this.me.get(caller, included, readPage);
  }

  /**
   * Get the account details
   *
   * @remarks Returns the state of the email and the password. `include` adds how the user can log in.
   */
  @Get('account')
  @SignedIn({ unverified: true })
  @ApiIncluded(ACCOUNT_PARTS, 'If `logins`, the response contains `logins`: how the user can log in.')
  getAccount(
    @CurrentUser() caller: UserPrincipal,
    @Included(ACCOUNT_PARTS) included: Included,
  ): Promise<AccountResponse> {
    return this.me.getAccount(caller.id, included);
  }

  /**
   * Get the profile
   *
   * @remarks Returns what the user wrote about themselves. Send the `ETag` as `If-Match` to change the profile only if
   * it has not changed since.
   */
  @Get('profile')
  @SignedIn()
  @ApiOkResponse({ type: ProfileResponse, headers: profileTagHeader(true) })
  getProfile(@CurrentUser() { id }: UserPrincipal, @AnswerTag() tagged: TagAnswer): Promise<ProfileResponse> {
    return tagged(this.profiles.get(id));
  }

  /**
   * Change the profile
   *
   * @remarks Changes the given fields. Null removes a field, and an absent field stays.
   *
   * Other members of the user's organizations see the name and the picture. Accounts does not check the name.
   */
  @Patch('profile')
  @ApiBody({ type: UpdateProfileRequest, examples: PROFILE_CHANGES })
  @SignedIn()
  @WriteRoute({ ifMatch: true, idempotencyKey: true, dryRun: true })
  @ApiOkResponse({ type: ProfileResponse, headers: profileTagHeader(false) })
  @ApiProblems(invalidFields({ avatarUrl: PROFILE.avatarUrl.expected }), {
    code: 'precondition_failed',
    detail: PROFILE_CHANGED,
  })
  updateProfile(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Body() { name, avatarUrl, locale }: UpdateProfileRequest,
  ): Promise<ProfileResponse> {
    return tagged(this.profiles.update(write, { name, avatarUrl, locale }));
  }

  /**
   * List the user's organizations
   *
   * @remarks Returns the organizations of the user in order of joining, in pages.
   *
   * Organizations that suspend the user are listed, too, but not for an access token for one service.
   */
  @Get('orgs')
  @SignedIn({ boundTokens: true })
  @ApiIncluded(ORG_PARTS, `Additional fields: \`requirements\` ${REQUIREMENTS}.`)
  @ApiPage(OrgMembershipsResponse)
  @GatedRead()
  listOrgs(
    @CurrentUser() caller: UserPrincipal,
    @Query() query: ListOwnOrgsQuery,
    @Included(ORG_PARTS) included: Included,
  ): Promise<OrgMembershipsResponse> {
    return this.me.listOrgs(caller, query, included);
  }

  /**
   * List the deleted organizations
   *
   * @remarks Returns the deleted organizations that the user can restore, in order of joining, in pages.
   */
  @Get('deleted-orgs')
  @SignedIn()
  @ApiPage(DeletedOrgsResponse)
  @GatedRead()
  listDeletedOrgs(
    @CurrentUser() { id }: UserPrincipal,
    @Query() query: ListOwnOrgsQuery,
  ): Promise<DeletedOrgsResponse> {
    return this.me.listDeletedOrgs(id, query);
  }

  /**
   * Delete the current user
   *
   * @remarks Deletes the user with all memberships, sessions and codes. The audit log keeps only ids.
   *
   * The only owner of an organization must first make another member an owner. The error names such organizations in
   * `orgs`. If two-factor authentication is on, the request needs a `code`.
   *
   * Limit: each request counts as a login.
   */
  @Delete()
  @SignedInDirectly({ unverified: true })
  @WriteRoute({ dryRun: true, remedy: true })
  @RateLimited('login', 'address', 'account')
  @ApiProblems(
    invalidFields({ password: 'should not be empty' }),
    'wrong_password',
    'invalid_second_factor_code',
    'second_factor_code_used',
    NO_PROVIDER_LOGIN,
    {
      code: 'last_owner',
      extensions: { orgs: [{ id: ORG_ID, name: 'Analytical Engines', hasOtherMembers: true }] },
    },
  )
  deleteAccount(
    @CurrentWrite() write: Write,
    @Body() proof: DeleteAccountRequest,
    @Client() client: HashClient,
  ): Promise<OkResponse> {
    return this.deletion.delete(write, proof, client);
  }

  /**
   * List the user's audit log
   *
   * @remarks Returns the events of the user, of the user's sessions and memberships, latest first, in pages.
   */
  @Get('events')
  @SignedInDirectly()
  @ApiPage(OwnEventsResponse)
  @GatedRead()
  listAuditEvents(
    @CurrentUser() { id: userId }: UserPrincipal,
    @Query() query: ListEventsQuery,
  ): Promise<OwnEventsResponse> {
    return this.events.list({ userId, type: query.type }, query, ownEvent);
  }

  /**
   * Export the user's data
   *
   * @remarks Returns everything that is stored about the user: profile, organizations, sessions, audit log, emails,
   * and invitations if the email is verified. It has no hashes, codes or secrets, and no IP addresses of other users.
   *
   * The response is streamed. If its last brace is missing, it is incomplete.
   */
  @Get('export')
  @SignedInDirectly()
  @RateLimited('export')
  @ApiOkResponse({ type: ExportResponse })
  @GatedRead()
  exportData(@CurrentUser() caller: UserPrincipal, @ReadPage() readPage: ReadPage): Promise<StreamableFile> {
    return this.me.export(caller, readPage);
  }

  /**
   * List the sessions
   *
   * @remarks Returns the active sessions of the user, latest first. `include` adds how the user logged in.
   */
  @Get('sessions')
  @SignedIn({ unverified: true })
  @ApiIncluded(SESSION_PARTS, 'If `login`, each session has a `login` with the provider, if any.')
  @GatedRead()
  async listSessions(
    @CurrentUser() { id, sessionId }: UserPrincipal,
    @Included(SESSION_PARTS) included: Included,
  ): Promise<SessionsResponse> {
    const found = await this.userSessions.listAlive(id);
    const view = included.has('login') ? sessionWithLogin : sessionView;
    return { sessions: found.map((one) => Object.assign(view(one), { current: one.id === sessionId })) };
  }

  /**
   * Revoke a session
   *
   * @remarks Revokes the session and every session that its one-time codes opened.
   *
   * Revoking a delegated session revokes its whole login hand-off: the first session that a code of the login opened,
   * and every session below it. The session of the login stays.
   */
  @Delete('sessions/:sessionId')
  @SignedInDirectly()
  @ApiParam({
    name: 'sessionId',
    type: String,
    format: 'uuid',
    description: 'Id of the session, from the list of sessions.',
  })
  @ApiProblems('session_not_found')
  revokeSession(
    @CurrentActor() actor: UserActor,
    @Param('sessionId', EntityIdPipe) id: string,
  ): Promise<OkResponse> {
    return this.sessions.end(actor, id).then(() => OK);
  }

  /**
   * Revoke the other sessions
   *
   * @remarks Revokes every session of the user except the session of the access token. Its delegated sessions are
   * revoked, too.
   *
   * If `all` is true, the session of the access token is revoked as well.
   */
  @Delete('sessions')
  @SignedInDirectly()
  @WriteRoute({ query: ['all'] })
  @ApiProblems(invalidFields({ all: 'must be true or false' }))
  revokeSessions(@CurrentActor() actor: UserActor, @Query() { all }: EndSessionsQuery): Promise<OkResponse> {
    return this.revocation.revokeAll(actor, { exceptActing: all !== 'true' }).then(() => OK);
  }
}
