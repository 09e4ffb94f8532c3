// A small real network on loopback: a PLC directory, two PDSes, and a
// resolver for the handles they give out. Data lives in a scratch folder.
import { join } from 'node:path';

import { Account } from './account.mjs';
import { Directory } from './directory.mjs';
import { Host } from './host.mjs';
import { Resolver } from './resolver.mjs';

export class Network {
  /** Every account ever opened here, the deleted ones too. */
  accounts = [];

  static async start(folder) {
    const network = new Network();
    network.plc = await Directory.start();
    const plcUrl = network.plc.url;
    network.hosts = await Promise.all(
      ['pds0', 'pds1'].map((name) =>
        Host.start({ folder: join(folder, name), plcUrl }),
      ),
    );
    network.resolver = await Resolver.start(network.hosts);
    return network;
  }

  /** Opens the account `<name>.test` on the host with that number. */
  async open(name, host = 0) {
    const account = await Account.open(this, this.hosts[host], name);
    this.accounts.push(account);
    return account;
  }

  urls() {
    return {
      plc: this.plc.gate.url,
      pds: this.hosts.map((host) => host.url),
      resolver: this.resolver.url,
    };
  }

  async stop() {
    await Promise.all(this.hosts.map((host) => host.stop()));
    await this.resolver.close();
    await this.plc.gate.close();
    await this.plc.close();
  }
}
