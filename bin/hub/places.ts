import { join } from 'node:path';

/** The files of a hub, all in one folder (0700). Only the database is in a backup; no key is in it. */
export interface HubPlaces {
  readonly folder: string;
  readonly config: string;
  readonly database: string;
  readonly ca: string;
  readonly caKey: string;
  /** Ed25519, PEM, oldest first: the first signs. */
  readonly signingKeys: string;
  readonly server: KeyPairFiles;
  readonly mqtt: KeyPairFiles;
  readonly broker: KeyPairFiles;
  readonly acl: string;
  readonly mosquittoConfig: string;
  readonly mosquittoFolder: string;
  readonly auditFolder: string;
  readonly auditKey: string;
}

export interface KeyPairFiles {
  readonly certificate: string;
  readonly key: string;
}

export function placesIn(folder: string): HubPlaces {
  const pair = (name: string): KeyPairFiles => ({
    certificate: join(folder, `${name}.pem`),
    key: join(folder, `${name}.key`),
  });
  return {
    folder,
    config: join(folder, 'hub.yaml'),
    database: join(folder, 'hub.db'),
    ca: join(folder, 'ca.pem'),
    caKey: join(folder, 'ca.key'),
    signingKeys: join(folder, 'signing.key'),
    server: pair('server'),
    mqtt: pair('mqtt'),
    broker: pair('broker'),
    acl: join(folder, 'broker.acl'),
    mosquittoConfig: join(folder, 'mosquitto.conf'),
    mosquittoFolder: join(folder, 'mosquitto'),
    auditFolder: join(folder, 'audit'),
    auditKey: join(folder, 'audit.key'),
  };
}
