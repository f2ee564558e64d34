import {
  type Client,
  type Expected,
  expectAlike,
  expectUnchanged,
  pythonWith,
  sideBySide,
} from './side-by-side.ts';

const WAYS = [
  ['ardupilot', 'tcp', 'udp'],
  ['px4', 'udp', 'tcp'],
] as const;

/** One client with both firmwares: all that its users do on one transport, and the beginning of it on the other. */
export function describeClient(client: Client, table: Readonly<Record<string, Expected>>): void {
  describe(`${client.driver.replace('_client', '')} as it is, at the vehicle and at the node`, function () {
    this.timeout(client.limit * 1000 + 10_000);
    let python: string | undefined;
    before(async () => {
      python = await pythonWith(client.needs);
    });

    for (const [firmware, transport, other] of WAYS) {
      it(`${firmware} by ${transport}: each call ends alike, but for what the armed guard refuses at once`, async function () {
        if (python === undefined) return this.skip(); // pip install mavsdk pymavlink MAVProxy
        const run = await sideBySide(python, client, firmware, transport);
        expectAlike(firmware, run, table);
        expectUnchanged(run);
      });

      it(`${firmware} by ${other}: connects, reads all parameters and writes one`, async function () {
        if (python === undefined) return this.skip();
        expectAlike(firmware, await sideBySide(python, client, firmware, other, 'short'), table);
      });
    }
  });
}
