import { ListedMemberResponse } from '../../members/dto/member.responses.js';

export class OrgResponse {
  /** @example "019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c" */
  id: string;

  /** @example "Analytical Engines" */
  name: string;
}

export class OrgDetail extends OrgResponse {
  members: ListedMemberResponse[];
}

export class CreatedOrgResponse {
  org: OrgResponse;
}

export class OrgDetailResponse {
  org: OrgDetail;
}
