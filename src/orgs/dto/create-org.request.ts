import { IsOrgName } from '../org-name.js';

export class CreateOrgRequest {
  /**
   * 1 to 100 characters after trimming; names need not be unique
   * @example "Analytical Engines"
   */
  @IsOrgName()
  name: string;
}
