import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { SignedIn } from '../access/access.decorators.js';
import type { UserPrincipal } from '../access/principal.js';
import { OwnProfile } from '../accounts/own-profile.js';
import { CurrentUser } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { profileTagHeader } from '../openapi/responses.js';
import { AnswerTag, type TagAnswer } from '../requests/entity-tags.js';
import { WriteRoute } from '../requests/write-route.decorator.js';
import { CurrentWrite, type Write } from '../requests/write.js';
import { PROFILE } from '../users/profile.js';
import { UpdateProfileRequest } from './me.requests.js';
import { ProfileResponse } from './me.responses.js';

@Controller('api/me/profile')
export class OwnProfileController {
  constructor(private readonly profiles: OwnProfile) {}

  /**
   * Get the profile
   *
   * @remarks Returns what the user wrote about themselves. Send the `ETag` as `If-Match` to change the profile only if
   * it has not changed since.
   */
  @Get()
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
  @Patch()
  @SignedIn()
  @WriteRoute({ ifMatch: true, idempotencyKey: true, dryRun: true })
  @ApiOkResponse({ type: ProfileResponse, headers: profileTagHeader(false) })
  @ApiProblems(invalidFields({ avatarUrl: PROFILE.avatarUrl.expected }))
  updateProfile(
    @CurrentWrite() write: Write,
    @AnswerTag() tagged: TagAnswer,
    @Body() { name, avatarUrl, locale }: UpdateProfileRequest,
  ): Promise<ProfileResponse> {
    return tagged(this.profiles.update(write, { name, avatarUrl, locale }));
  }
}
