import { Injectable } from '@nestjs/common';
import type { Remedy } from '../../problems/problem.js';
import { type ListedMember, MemberLists } from '../state/members.lists.js';

export interface Asking {
  userId: string;
  /** the organization of the request, which the caller is a member of */
  orgId: string | undefined;
}

const MAX_CANDIDATES = 5;

/** Looks up what a client needs to get past a refusal, after what was refused is rolled back. */
@Injectable()
export class Remedies {
  constructor(private readonly members: MemberLists) {}

  async describe(remedy: Remedy, { userId, orgId }: Asking): Promise<object> {
    if (remedy.action === 'resend') return remedy;
    return remedy.orgIds ? this.transferOneOf(remedy.orgIds, userId) : this.transfer(orgId, userId);
  }

  private async transfer(orgId: string | undefined, userId: string): Promise<object> {
    return {
      action: 'transfer',
      candidates: orgId === undefined ? [] : await this.candidates(orgId, userId),
    };
  }

  /** Names one organization at a time: the next attempt names the next one. */
  private async transferOneOf([orgId]: string[], userId: string): Promise<object> {
    return orgId === undefined
      ? { action: 'transfer', candidates: [] }
      : { action: 'transfer', orgId, candidates: await this.candidates(orgId, userId) };
  }

  private candidates(orgId: string, userId: string): Promise<ListedMember[]> {
    return this.members.findSuccessors(orgId, userId, MAX_CANDIDATES);
  }
}
