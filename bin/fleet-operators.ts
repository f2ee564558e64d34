import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../shared/errors.ts';
import { howToAllow } from '../shared/fleet/local-scopes.ts';
import { publicJwk } from '../shared/fleet/signed.ts';
import { NodeCommand } from './node-command.ts';

/** Whose confirmation counts: a name, and the public half of their Ed25519 key (`x` of the JWK). */
export interface FleetOperator {
  readonly name: string;
  readonly key: string;
}

const KEY = 'fleet.operators';

/** A command about the operators of the node, who are a key of its config: `name key` each. */
export abstract class FleetOperatorsCommand extends NodeCommand {
  #scopes: readonly string[] = [];

  protected async operators(): Promise<readonly FleetOperator[]> {
    const { fleet } = await this.call('GET /api/config');
    this.#scopes = fleet.scopes;
    return fleet.operators.map((line) => {
      const [name = '', key = ''] = line.split(' ');
      return { name, key };
    });
  }

  /** Says it where no confirmation helps, because the node lets its fleet have no flight at all. */
  protected sayCap(): void {
    if (!this.#scopes.includes('flight'))
      this.log(`The fleet still flies nothing here. ${howToAllow(['flight'], this.#scopes)}`);
  }

  /** @returns what is written, in force after a restart of the front */
  protected async write(operators: readonly FleetOperator[]): Promise<readonly FleetOperator[]> {
    const value = operators.map(({ name, key }) => `${name} ${key}`);
    const body = { key: KEY, value };
    const { restart_required: restart } = await this.call('PUT /api/config', { body });
    this.log(`in force after: svc services restart ${restart.join(' and ')}`);
    return operators;
  }
}

/** @param text base64url of the public half, or the path of a PEM file with it. @throws Error saying why it is no key */
export async function operatorKey(text: string): Promise<string> {
  if (/^[A-Za-z0-9_-]{43}$/.test(text)) return text;
  const pem = await readFile(text, 'utf8').catch((error: unknown) => {
    throw new Error(
      `${text} is neither a public key (43 characters) nor a file with one: ${messageOf(error)}`,
    );
  });
  if (pem.includes('PRIVATE'))
    throw new Error(`${text} is the private half, which stays with its owner. Name key.pub.`);
  return publicJwk(createPublicKey(pem)).x;
}
