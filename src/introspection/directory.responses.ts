import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { ApiCount, ApiId, ApiNextCursor, ApiText } from '../openapi/decorators.js';
import { PublicProfileDto, UserDto } from '../users/user.fields.js';

const ORG_ID = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';

const KATHERINE = {
  id: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f',
  email: 'katherine@example.com',
  emailVerified: false,
  name: 'Katherine Johnson',
  avatarUrl: null,
  disabled: false,
  revision: 2,
};

@ApiSchema({ name: 'DirectoryUser' })
export class DirectoryUserDto extends IntersectionType(UserDto, PublicProfileDto) {
  @ApiProperty() emailVerified: boolean;

  /** Whether an operator disabled the user. */
  @ApiProperty() disabled: boolean;

  @ApiCount({ minimum: 1, description: 'Revision of the user. Increases with each change of the user.' })
  revision: number;
}

export class DirectoryUsersResponse {
  @ApiProperty({ type: [DirectoryUserDto], description: 'The users that exist.', example: [KATHERINE] })
  users: DirectoryUserDto[];
}

@ApiSchema({ name: 'DirectoryOrg' })
export class DirectoryOrgDto {
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
  @ApiProperty({ type: [DirectoryOrgDto], description: 'The organizations that exist.' })
  orgs: DirectoryOrgDto[];

  @ApiNextCursor('MC4wMTlhOGYzZS02YTJkLTdmMTAtOGIzYy01ZDdlOWYxYTJiM2M') nextCursor?: string;
}
