interface ModelSecret {
  service: string;
  revoked: boolean;
}

interface ModelService {
  epoch: number;
  disabled: boolean;
}

/** What a code for one service has opened: alive while the service stays in this epoch. */
export interface Bound {
  service: string;
  epoch: number;
}

/** Who exchanges a code: one of the secrets, under the name of a service. */
export interface Shown {
  service: string;
  secret: number;
}

/** Internal services as an operator has them; secrets are named by the order of their making. */
export class ModelServices {
  readonly all = new Map<string, ModelService>();
  readonly secrets: ModelSecret[] = [];

  add(name: string): void {
    this.all.set(name, { epoch: 0, disabled: false });
    this.rotate(name);
  }

  rotate(service: string): void {
    this.secrets.push({ service, revoked: false });
  }

  live(service: string): number[] {
    return [...this.secrets.keys()].filter(
      (index) => this.secrets[index]?.service === service && !this.secrets[index].revoked,
    );
  }

  revoke(secret: number, endsSessions: boolean): void {
    const found = this.secrets[secret];
    if (!found) throw new Error(`the model has no secret ${secret}`);
    found.revoked = true;
    if (endsSessions) this.get(found.service).epoch += 1;
  }

  /** What disabled services opened stays ended when they are enabled. */
  disable(name: string): void {
    const service = this.get(name);
    if (!service.disabled) service.epoch += 1;
    service.disabled = true;
  }

  enable(name: string): void {
    this.get(name).disabled = false;
  }

  isEnabled(name: string): boolean {
    return this.all.get(name)?.disabled === false;
  }

  /** Whether the secret is a live one of that service. */
  prove({ service, secret }: Shown): boolean {
    const found = this.secrets[secret];
    return found?.service === service && !found.revoked && this.isEnabled(service);
  }

  bind(service: string): Bound {
    return { service, epoch: this.get(service).epoch };
  }

  holds({ service, epoch }: Bound): boolean {
    return this.isEnabled(service) && this.get(service).epoch === epoch;
  }

  private get(name: string): ModelService {
    const service = this.all.get(name);
    if (!service) throw new Error(`the model has no service ${name}`);
    return service;
  }
}
