import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { OkResult } from '../../http/ok.responses.js';

const ORPHANED = {
  id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c',
  name: 'Analytical Engines',
  isDeleted: false,
};

@ApiSchema({ name: 'OrphanedOrg' })
export class OrphanedOrgResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ minLength: 1, maxLength: 100 })
  name: string;

  /** whether it was deleted, since it had no other member */
  isDeleted: boolean;
}

export class ForcibleResult extends OkResult {
  /** organizations that have no enabled owner any more; present if `force` was true */
  @ApiPropertyOptional({ type: [OrphanedOrgResponse], example: [ORPHANED] })
  orphanedOrgs?: OrphanedOrgResponse[];
}

export class ResetCodeResult {
  /**
   * code to tell the user, for `POST /api/auth/password/reset`; shown once
   * @example "7K2M9-QX4TB"
   */
  @ApiProperty({ pattern: '^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$' })
  code: string;

  /** @example "2026-11-22T09:15:00.000Z" */
  @ApiProperty({ format: 'date-time' })
  expiresAt: string;
}
