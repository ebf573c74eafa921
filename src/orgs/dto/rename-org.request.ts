import { IsOrgName } from '../org-name.js';

export class RenameOrgRequest {
  /**
   * 1 to 100 characters after trimming; names need not be unique
   * @example "Analytical Engines"
   */
  @IsOrgName()
  name: string;
}
