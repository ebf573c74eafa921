import { ApiProperty } from '@nestjs/swagger';
import { ApiCount, ApiEmail, ApiId, ApiNextCursor, ApiText } from '../openapi/decorators.js';

const USER_ID = '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f';
const ORG_ID = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';

export class DirectoryUser {
  @ApiId({ example: USER_ID }) id: string;
  @ApiEmail({ example: 'katherine@example.com' }) email: string;
  @ApiProperty({ type: Boolean, example: false, description: 'Whether the user verified the email.' })
  emailVerified: boolean;

  /** Name of the user. Null if there is none. */
  @ApiText(1, 100, { nullable: true, example: 'Katherine Johnson' }) name: string | null;

  /** URL of a picture of the user, which Accounts does not fetch. Null if there is none. */
  @ApiText(1, 500, { nullable: true, example: null }) avatarUrl: string | null;

  @ApiProperty({ type: Boolean, example: false, description: 'Whether an operator disabled the user.' })
  disabled: boolean;

  @ApiCount({
    minimum: 1,
    example: 2,
    description: 'Revision of the user. Increases with each change of the user.',
  })
  revision: number;
}

export class DirectoryUsersResponse {
  @ApiProperty({ type: [DirectoryUser], description: 'The users that exist.' }) users: DirectoryUser[];
}

export class DirectoryOrg {
  @ApiId({ example: ORG_ID }) id: string;
  @ApiText(1, 100, { example: 'Analytical Engines', description: 'Name of the organization.' }) name: string;

  @ApiCount({
    minimum: 1,
    example: 2,
    description: 'Revision of the organization. Increases with each change.',
  })
  revision: number;
}

export class DirectoryOrgsResponse {
  @ApiProperty({ type: [DirectoryOrg], description: 'The organizations that exist.' }) orgs: DirectoryOrg[];

  @ApiNextCursor('MC4wMTlhOGYzZS02YTJkLTdmMTAtOGIzYy01ZDdlOWYxYTJiM2M') nextCursor?: string;
}
