import { MAX_ORG_NAME } from './state/org.entity.js';
import { IsFlag, IsId, IsOneLine } from '../http/fields.js';

export class CreateOrgRequest {
  /** 1 to 100 characters after trimming; names need not be unique */
  @IsOneLine(MAX_ORG_NAME, { example: 'Analytical Engines' }) name: string;
}

export class RenameOrgRequest extends CreateOrgRequest {}

export class TransferOrgRequest {
  /** the member who becomes owner */
  @IsId('a user', { example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) userId: string;

  /** whether the caller leaves the organization; by default they become an admin */
  @IsFlag({ example: false }) leave?: boolean;
}
