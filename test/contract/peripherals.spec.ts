import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FromSchema } from 'json-schema-to-ts';
import { Manifests } from '../../residual/app/peripherals/manifests.ts';
import { Peripherals } from '../../residual/app/peripherals/peripherals.ts';
import { UsbNames } from '../../residual/app/peripherals/sources/usb-names.ts';
import { Users } from '../../residual/app/peripherals/users.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { type peripheral, peripheralDetail, peripheralList } from '../../shared/schemas/peripherals.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { DeviceTree } from '../support/device-tree.ts';
import { KEY } from '../support/edge.ts';
import { SAFE_PATH, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

type Peripheral = FromSchema<typeof peripheral>;
type List = FromSchema<typeof peripheralList>;

const KEYED = { 'x-svc-key': KEY } as const;
const BY_ID = 'usb-ArduPilot_Pixhawk1_3A0042-if00';
const CONTROLLER = { idVendor: '1209', idProduct: '5740', manufacturer: 'ArduPilot', product: 'Pixhawk1' };

const ajv = createAjv();
const fitsList = compileValidator(ajv, peripheralList);
const fitsDetail = compileValidator(ajv, peripheralDetail);

/** A drone's hardware: a flight controller, a GPS, a radio and a camera on USB; I2C, GPIO, Ethernet on the board. */
async function drone(tree: DeviceTree): Promise<void> {
  await plugController(tree);
  const gps = await tree.usb('1-2', { idVendor: '1546', idProduct: '01a8' });
  await tree.usbSerial('ttyACM1', gps, null);
  const radio = await tree.usb('1-3', {
    idVendor: '0bda',
    idProduct: '8812',
    manufacturer: 'Realtek',
    product: '802.11n\u001b[31m NIC',
    serial: '123456',
  });
  const card = await tree.device(`${radio}/1-3:1.0`, { bInterfaceNumber: '00' }, 'rtl88XXau');
  const wlan = await tree.device(`${radio}/1-3:1.0/net/wlan0`, {
    address: '00:c0:ca:00:00:01',
    operstate: 'down',
    type: '1',
  });
  await mkdir(join(wlan, 'phy80211'));
  await symlink(card, join(wlan, 'device'));
  await tree.listed(wlan, 'class/net/wlan0');
  const camera = await tree.usb('1-4', { idVendor: '046d', idProduct: '0825', serial: 'CAM7' });
  const stream = await tree.device(`${camera}/1-4:1.0`, { bInterfaceNumber: '00' }, 'uvcvideo');
  const video = await tree.device(`${camera}/1-4:1.0/video4linux/video0`, {
    name: 'UVC Camera (046d:0825)',
    index: '0',
  });
  await symlink(stream, join(video, 'device'));
  await tree.listed(video, 'class/video4linux/video0');
  await tree.node('video0');
  await tree.listed(
    await tree.device('usb1', { idVendor: '1d6b', idProduct: '0002' }),
    'bus/usb/devices/usb1',
  );

  const bus = await tree.device('platform/soc/i2c-1', { name: 'bcm2835 (i2c@7e804000)' });
  await tree.listed(bus, 'bus/i2c/devices/i2c-1');
  await tree.node('i2c-1');
  await tree.listed(
    await tree.device('platform/soc/i2c-1/1-0076', { name: 'bmp280' }, 'bmp280'),
    'bus/i2c/devices/1-0076',
  );
  const chip = await tree.device('platform/soc/fe200000.gpio/gpiochip0', {});
  await tree.device('platform/soc/fe200000.gpio/gpio/gpiochip512', { label: 'pinctrl-bcm2711', ngpio: '58' });
  await tree.listed(chip, 'bus/gpio/devices/gpiochip0');
  await tree.node('gpiochip0');
  const ethernet = await tree.device('platform/fd580000.ethernet', {}, 'bcmgenet');
  const eth0 = await tree.device('platform/fd580000.ethernet/net/eth0', {
    address: 'dc:a6:32:00:00:01',
    operstate: 'up',
    type: '1',
  });
  await symlink(ethernet, join(eth0, 'device'));
  await tree.listed(eth0, 'class/net/eth0');
  await tree.listed(await tree.device('virtual/net/lo', { type: '772' }), 'class/net/lo');
}

async function plugController(tree: DeviceTree): Promise<string> {
  return tree.usbSerial('ttyACM0', await tree.usb('1-1', { ...CONTROLLER, serial: '3A0042' }), BY_ID);
}

async function unplugController(tree: DeviceTree): Promise<void> {
  await tree.unplugSerial('ttyACM0', BY_ID);
  await tree.unplugUsb('1-1');
}

/** Resolves when the node has logged it since `from`, with the text that matched. */
async function logged(node: TestNode, pattern: RegExp, from = 0): Promise<string> {
  for (;;) {
    const found = pattern.exec(node.stderr.slice(from));
    if (found !== null) return found[0];
    if (node.supervisor.stderr === null) throw new Error('no stderr');
    await once(node.supervisor.stderr, 'data');
  }
}

async function list(node: TestNode): Promise<List> {
  const { status, body } = await node.json('/api/peripherals', { headers: KEYED });
  expect(status).to.equal(200);
  expect(fitsList(body)).to.equal(null);
  return body as unknown as List;
}

async function one(node: TestNode, id: string): Promise<Peripheral> {
  const found = (await list(node)).peripherals.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
}

const send = async (node: TestNode, method: string, path: string, body: unknown, headers = KEYED) =>
  node.json(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** A process that has a file open until it is killed. */
async function holding(path: string): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', 'exec 3<"$0"; echo open; read nothing', path], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  return child;
}

const MANIFEST = `
id: gps-with-settings
display_name: GPS of the test
match: {kind: serial, vid: '1546'}
capabilities: [gps]
config_schema:
  type: object
  required: [rate_hz]
  properties: {rate_hz: {type: integer, minimum: 1, maximum: 10}}
  additionalProperties: false
actions:
  - {id: look, display_name: Look again, does: rescan}
  - {id: melt, display_name: Melt it, does: melt, requires_confirm: true}
  - {id: link, display_name: Restart the link, does: restart_service, service: svc-link}
`;

const GPS = 'serial-1546-01a8-1-2-if00';
const PORT = 'serial-1209-5740-3A0042-if00';
const WHOLE = 'usb-1209-5740-3A0042';

describe('peripherals', () => {
  describe('of a drone', () => {
    let base: string;
    let tree: DeviceTree;
    let node: TestNode;
    before(async () => {
      base = await tempDir();
      tree = new DeviceTree(base);
      await drone(tree);
      node = await TestNode.start({
        pairing: { key: KEY },
        config: 'mcp:\n  token_accept_enabled: true\nvideo:\n  source: test\n',
        env: { ...tree.env, SVC_UDEV_DIR: join(base, 'no-udev') },
        prepare: async (paths) => {
          await mkdir(paths.peripherals, { recursive: true });
          await writeFile(join(paths.peripherals, 'gps.yaml'), MANIFEST);
        },
      });
    });
    after(async () => {
      await node.stop();
      await removeDir(base);
    });

    it('each is listed with what it is in words, and every source says that it worked', async () => {
      const { peripherals, count, sources } = await list(node);
      expect(Object.fromEntries(peripherals.map(({ id, name }) => [id, name]))).to.deep.equal({
        [PORT]: 'Serial port ttyACM0 of ArduPilot Pixhawk1',
        [GPS]: 'Serial port ttyACM1 of U-Blox AG [u-blox 8]',
        [WHOLE]: 'ArduPilot Pixhawk1',
        'usb-1546-01a8-1-2': 'U-Blox AG [u-blox 8]',
        'usb-0bda-8812-123456': 'Realtek 802.11n [31m NIC (RTL8812AU 802.11a/b/g/n/ac 2T2R DB WLAN Adapter)',
        'usb-046d-0825-CAM7': 'Logitech, Inc. Webcam C270',
        'camera-046d-0825-CAM7-if00': 'Camera UVC Camera (046d:0825) (video0)',
        'i2c-1': 'I2C bus 1 (bcm2835 (i2c@7e804000))',
        'i2c-1-0076': 'bmp280 on I2C bus 1 at 0x76',
        'gpio-gpiochip0': 'GPIO chip gpiochip0 (pinctrl-bcm2711, 58 lines)',
        'network-0bda-8812-123456-if00':
          'Wi-Fi wlan0 of Realtek 802.11n [31m NIC (RTL8812AU 802.11a/b/g/n/ac 2T2R DB WLAN Adapter)',
        'network-eth0': 'Ethernet eth0',
      });
      expect(count).to.equal(12);
      expect(sources.map(({ name }) => name)).to.deep.equal([
        'serial',
        'usb',
        'camera',
        'i2c',
        'gpio',
        'network',
        'manifests',
      ]);
      expect(sources.filter(({ ok, error }) => !ok || error !== null)).to.deep.equal([]);
    });

    it('a port has its stable name, its driver, the device that it is a part of, and what is known of its kind', async () => {
      const port = await one(node, PORT);
      expect(port).to.deep.include({
        connected: true,
        part_of: WHOLE,
        bus: 'usb',
        address: '1-1',
        device_paths: [join(tree.dev, 'ttyACM0'), join(tree.dev, 'serial/by-id', BY_ID)],
        vendor_id: '1209',
        product_id: '5740',
        serial: '3A0042',
        driver: 'cdc_acm',
        rate_hz: null,
      });
      expect(port.manifest?.id).to.equal('flight-controller-usb');
      expect((await one(node, 'camera-046d-0825-CAM7-if00')).manifest?.id).to.equal('uvc-camera');
      expect((await one(node, 'usb-0bda-8812-123456')).manifest?.id).to.equal('rtl8812');
      expect((await one(node, 'network-0bda-8812-123456-if00')).facts).to.deep.equal({
        interface: 'wlan0',
        kind: 'wifi',
        mac: '00:c0:ca:00:00:01',
        state: 'down',
      });
    });

    it('who has a device open is named, also at the USB device that it is a part of', async () => {
      const path = join(tree.dev, 'ttyACM0');
      const child = await holding(path);
      try {
        const user = { pid: child.pid, process: 'sh', ours: null };
        await send(node, 'POST', '/api/peripherals/scan', {}); // a look of before counts for 3 s
        expect((await one(node, PORT)).used_by).to.deep.equal([user]);
        expect((await one(node, WHOLE)).used_by).to.deep.equal([user]);
        expect((await one(node, 'network-eth0')).used_by).to.equal(null);
      } finally {
        child.kill('SIGKILL');
      }
    });

    it('what is unplugged is an event within a second, and stays listed; plugged in again it is the same', async () => {
      const { first_seen: first } = await one(node, PORT);
      const from = node.stderr.length;
      const at = performance.now();
      await unplugController(tree);
      const line = await logged(node, /.*"unplugged: Serial port ttyACM0 of ArduPilot Pixhawk1".*/, from);
      // One second, and what a busy machine adds.
      expect(performance.now() - at).to.be.below(15_000);
      expect(JSON.parse(line)).to.include({ event: 'peripheral.removed', peripheral: PORT, kind: 'serial' });
      const gone = await one(node, PORT);
      expect(gone).to.include({ connected: false, first_seen: first, used_by: null });
      expect(Date.parse(gone.last_seen ?? '')).to.be.closeTo(Date.now(), 30_000);
      expect((await list(node)).count).to.equal(10);

      const back = node.stderr.length;
      await plugController(tree);
      await logged(node, /"plugged in: ArduPilot Pixhawk1"/, back);
      expect(await one(node, PORT)).to.include({ connected: true, first_seen: first });
      expect((await list(node)).count).to.equal(12);
    });

    it('a source that cannot be read says why, and costs nothing of the others', async () => {
      const folder = join(tree.sys, 'bus/i2c/devices');
      await rm(folder, { recursive: true });
      await symlink(folder, folder); // it cannot be read by root either
      const from = node.stderr.length;
      const { sources, count } = await list(node);
      expect(sources.filter(({ ok }) => !ok).map(({ name }) => name)).to.deep.equal(['i2c']);
      expect(sources.find(({ name }) => name === 'i2c')?.error).to.match(/ELOOP/);
      expect(count).to.equal(12);
      expect(node.stderr.slice(from)).to.not.include('unplugged: bmp280');
      await rm(folder);
      await tree.listed(join(tree.sys, 'devices/platform/soc/i2c-1'), 'bus/i2c/devices/i2c-1');
      await tree.listed(join(tree.sys, 'devices/platform/soc/i2c-1/1-0076'), 'bus/i2c/devices/1-0076');
      expect((await list(node)).sources.every(({ ok }) => ok)).to.equal(true);
    });

    it('a configuration is checked by the schema of its manifest, and written as a whole', async () => {
      const path = `/api/peripherals/${GPS}/config`;
      const wrong = await send(node, 'PUT', path, { rate_hz: 50, mode: 'x' });
      expect([wrong.status, wrong.body['code']]).to.deep.equal([422, 'E_INVALID_VALUE']);
      expect(
        (wrong.body['errors'] as { path: string }[]).map((error) => error.path).toSorted(),
      ).to.deep.equal(['/mode', '/rate_hz']);
      const file = join(node.paths.peripherals, `${GPS}.config.json`);
      expect(existsSync(file)).to.equal(false);
      const { status, body } = await send(node, 'PUT', path, { rate_hz: 5 });
      expect([status, body]).to.deep.equal([200, { persisted: true, peripheral_id: GPS, path: file }]);
      expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal({ rate_hz: 5 });
      expect((await stat(file)).mode & 0o777).to.equal(0o644);
      const detail = (await node.json(`/api/peripherals/${GPS}`, { headers: KEYED })).body;
      expect(fitsDetail(detail)).to.equal(null);
      expect(detail['config']).to.deep.equal({ rate_hz: 5 });
      expect(detail['manifest']).to.include({
        id: 'gps-with-settings',
        origin: 'gps.yaml',
        has_config: true,
      });
    });

    it('without a schema there is no configuration, and nothing at an id that was never seen', async () => {
      expect((await send(node, 'PUT', `/api/peripherals/${PORT}/config`, {})).status).to.equal(404);
      expect((await send(node, 'PUT', '/api/peripherals/serial-9/config', {})).status).to.equal(404);
      expect((await node.json('/api/peripherals/serial-9', { headers: KEYED })).status).to.equal(404);
    });

    it('a bad manifest is named, and costs nothing of the others', async () => {
      const bad: readonly [string, string, RegExp][] = [
        ['a.yaml', 'id: [', /a\.yaml: it is not valid YAML/],
        ['b.yaml', 'id: b\ndisplay_name: B\nmatch: [{vid: 0483}]', /b\.yaml: match\[0\]\.vid must be text/],
        ['c.yaml', "id: c\ndisplay_name: C\nmatch: [{regex: '('}]", /c\.yaml: Invalid regular expression/],
        [
          'd.yaml',
          'id: d\ndisplay_name: D\nmatch: [{kind: usb}]\nconfig_schema: {type: nonsense}',
          /d\.yaml: schema is invalid/,
        ],
      ];
      for (const [name, text] of bad) await writeFile(join(node.paths.peripherals, name), text);
      const { sources, peripherals } = await list(node);
      const state = sources.find(({ name }) => name === 'manifests');
      for (const [, , words] of bad) expect(state?.error).to.match(words);
      expect(state?.ok).to.equal(false);
      expect(peripherals.find(({ id }) => id === GPS)?.manifest?.id).to.equal('gps-with-settings');
      for (const [name] of bad) await rm(join(node.paths.peripherals, name));
      expect((await list(node)).sources.every(({ ok }) => ok)).to.equal(true);
    });

    const act = async (id: string, body: unknown, headers: Record<string, string> = KEYED) =>
      send(node, 'POST', `/api/peripherals/${id}/action`, body, headers as typeof KEYED);

    const tokenOf = async (scope: string): Promise<Record<string, string>> => {
      const { body } = await node.post('/api/mcp/tokens', { scopes: [scope] }, KEYED);
      return { 'x-svc-mcp-token': String(body['token']) };
    };

    it('an action is done if this node can; what it cannot is 501, whatever a file says', async () => {
      const looked = await act(GPS, { action_id: 'look' });
      expect([looked.status, looked.body['ok'], looked.body['message']]).to.deep.equal([
        200,
        true,
        '12 peripherals are connected.',
      ]);
      for (const id of ['melt', 'link']) {
        const refused = await act(GPS, { action_id: id, confirm: true });
        expect([refused.status, refused.body['code']], id).to.deep.equal([501, 'E_NOT_IMPLEMENTED']);
      }
      const { manifest } = await one(node, GPS);
      expect(manifest?.actions.map(({ id, available }) => [id, available])).to.deep.equal([
        ['look', true],
        ['melt', false],
        ['link', false],
      ]);
      expect((await act(GPS, { action_id: 'dance' })).status).to.equal(404);
    });

    it('the port becomes the source of MAVLink: confirmed, and by who may write that key', async () => {
      const body = { action_id: 'use-as-flight-controller' };
      const asked = await act(PORT, body);
      expect([asked.status, asked.body['errors']]).to.deep.equal([
        422,
        [
          {
            path: '/confirm',
            message: 'must be true to Use it as the flight controller (mavlink.source)',
          },
        ],
      ]);
      const refused = await act(PORT, { ...body, confirm: true }, await tokenOf('admin'));
      expect([refused.status, refused.body['code'], refused.body['required']]).to.deep.equal([
        403,
        'E_SCOPE',
        'keyonly',
      ]);
      // Before anything was heard, the vehicle may be armed.
      await node.knowsArmed();
      // The test's /dev is no /dev: the config's own check refuses it, so that nothing is stored that cannot be opened.
      const elsewhere = await act(PORT, { ...body, confirm: true });
      expect([elsewhere.status, elsewhere.body['code']]).to.deep.equal([422, 'E_INVALID_VALUE']);
    });

    it('the camera’s action restarts svc-video, for whoever may restart it, and shows it', async () => {
      const before = node.pid('svc-video');
      const restart = { action_id: 'restart-video', confirm: true };
      const refused = await act('camera-046d-0825-CAM7-if00', restart, await tokenOf('admin'));
      expect([refused.status, refused.body['required']]).to.deep.equal([403, 'flight']);
      expect(node.pid('svc-video')).to.equal(before);
      const { status, body } = await act('camera-046d-0825-CAM7-if00', restart);
      expect([status, body['ok']]).to.deep.equal([200, true]);
      expect(body['message']).to.match(
        new RegExp(`^svc-video has restarted: process ${before} before, \\d+ now`),
      );
    });
  });

  describe('where udev runs', () => {
    let base: string;
    let tree: DeviceTree;
    let node: TestNode;
    const udev = (): string => join(base, 'udev');
    before(async () => {
      base = await tempDir();
      tree = new DeviceTree(base);
      await mkdir(tree.sys, { recursive: true });
      await mkdir(tree.dev, { recursive: true });
      await mkdir(udev());
      await writeFile(join(udev(), 'control'), '');
      await writeFile(join(udev(), 'events'), '');
      const program = join(base, 'bin/udevadm');
      await mkdir(join(base, 'bin'));
      await writeFile(
        program,
        `#!/bin/sh
echo "$@" > '${udev()}/arguments'
echo $$ >> '${udev()}/pids'
echo 'monitor will print the received events for:'
exec tail -n 0 -f '${udev()}/events'
`,
        { mode: 0o755 },
      );
      node = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        env: { ...tree.env, SVC_UDEV_DIR: udev(), PATH: `${join(base, 'bin')}:${SAFE_PATH}` },
      });
      await logged(node, /udev says what is plugged in and out/);
    });
    after(async () => {
      await node.stop();
      await removeDir(base);
    });

    it('its word is enough', async () => {
      expect(await readFile(join(udev(), 'arguments'), 'utf8')).to.match(
        /^monitor --udev --subsystem-match=usb --subsystem-match=tty /,
      );
      // A device file alone is nothing that the look every second would see.
      await tree.node('gpiochip7');
      await appendFile(join(udev(), 'events'), 'UDEV  [12.345678] add      /devices/gpiochip7 (gpio)\n');
      await logged(node, /"plugged in: GPIO chip gpiochip7"/);
    });

    it('when it ends it is started again, and meanwhile the node looks itself', async () => {
      const from = node.stderr.length;
      process.kill(Number((await readFile(join(udev(), 'pids'), 'utf8')).trim()), 'SIGKILL');
      await logged(node, /udevadm monitor ended with SIGKILL: peripherals are looked for every second/, from);
      await tree.usb('1-1', { ...CONTROLLER, serial: '3A0042' });
      await logged(node, /"plugged in: ArduPilot Pixhawk1"/, from);
      await logged(node, /udev says what is plugged in and out/, from);
    });

    it('it ends with the node', async () => {
      const pid = Number((await readFile(join(udev(), 'pids'), 'utf8')).trim().split('\n').at(-1));
      await node.stop({ keep: true });
      expect(existsSync(`/proc/${pid}`)).to.equal(false);
      await node.remove();
    });
  });

  describe('in parts', () => {
    let base: string;
    let tree: DeviceTree;
    beforeEach(async () => {
      base = await tempDir();
      tree = new DeviceTree(base);
      await mkdir(tree.dev, { recursive: true });
    });
    afterEach(async () => removeDir(base));

    const open = (told: unknown[]): Peripherals =>
      new Peripherals({
        trees: { sys: tree.sys, dev: tree.dev, proc: '/proc' },
        manifests: new Manifests(join(base, 'manifests')),
        wall: () => 1_700_000_000_000,
        publish: (topic, payload) => told.push([topic, payload]),
        log: createLogger('test', 'error'),
      });

    it('two devices with the same serial number are two, and extensions are told what comes and goes', async () => {
      const told: unknown[] = [];
      const peripherals = open(told);
      await tree.usb('1-1', { ...CONTROLLER, serial: '0001' });
      await peripherals.scan();
      expect(told).to.deep.equal([]); // what was there at the start did not come
      await tree.usb('1-2', { ...CONTROLLER, serial: '0001' });
      await peripherals.scan();
      expect(peripherals.all.map(({ id }) => id)).to.deep.equal([
        'usb-1209-5740-0001',
        'usb-1209-5740-0001-1-2',
      ]);
      await tree.unplugUsb('1-2');
      await peripherals.scan();
      const payload = { id: 'usb-1209-5740-0001-1-2', kind: 'usb', name: 'ArduPilot Pixhawk1' };
      expect(told).to.deep.equal([
        ['peripheral.added', payload],
        ['peripheral.removed', payload],
      ]);
    });

    it('of those that have gone 128 are remembered', async () => {
      const peripherals = open([]);
      const ports = Array.from({ length: 70 }, (_, i) => `1-${i + 1}`);
      for (const round of ['a', 'b', 'c']) {
        for (const port of ports) await tree.usb(port, { ...CONTROLLER, serial: `${round}${port}` });
        await peripherals.scan();
      }
      // 70 that are there, and of the 140 that were replaced those that fit.
      expect(peripherals.all).to.have.length(70 + 128);
    });

    it('a process whose files may not be read leaves it unknown who uses what nobody else does', async () => {
      const proc = join(base, 'proc');
      const port = await tree.node('ttyACM0');
      await mkdir(join(proc, '1'), { recursive: true });
      await symlink(join(proc, '1/fd'), join(proc, '1/fd')); // unreadable for root too
      await mkdir(join(proc, '2/fd'), { recursive: true });
      await symlink(port, join(proc, '2/fd/7'));
      await writeFile(join(proc, '2/comm'), 'svc\n');
      const users = (own: ReadonlyMap<number, string>): Users =>
        new Users({ proc, dev: tree.dev, own: () => own, now: () => performance.now() });
      expect(await users(new Map([[2, 'svc-link']])).of([port])).to.deep.equal([
        { pid: 2, process: 'svc', ours: 'svc-link' },
      ]);
      expect(await users(new Map()).of([await tree.node('video0')])).to.equal(null);
      await rm(join(proc, '1'), { recursive: true });
      expect(await users(new Map()).of([await tree.node('video0')])).to.deep.equal([]);
    });

    it('the names of the public list are those of one vendor’s file; an unknown number has none', async () => {
      const names = new UsbNames();
      expect(await names.of('0bda', '8812')).to.deep.equal({
        vendor: 'Realtek Semiconductor Corp.',
        product: 'RTL8812AU 802.11a/b/g/n/ac 2T2R DB WLAN Adapter',
      });
      expect(await names.of('0483', 'ffff')).to.deep.equal({ vendor: 'STMicroelectronics', product: null });
      expect(await names.of('ffff', 'ffff')).to.deep.equal({ vendor: null, product: null });
    });

    it('this machine is read as it is', async () => {
      const peripherals = new Peripherals({
        trees: { sys: '/sys', dev: '/dev', proc: '/proc' },
        manifests: new Manifests(join(base, 'manifests')),
        wall: Date.now,
        publish: () => undefined,
        log: createLogger('test', 'error'),
      });
      await peripherals.scan();
      expect(peripherals.sources.filter(({ ok }) => !ok)).to.deep.equal([]);
      const real = existsSync('/sys/class/net')
        ? readdirSync('/sys/class/net').filter((name) => existsSync(`/sys/class/net/${name}/device`))
        : [];
      const found = peripherals.all.flatMap(({ found: { kind, facts } }) =>
        kind === 'network' ? [facts['interface']] : [],
      );
      expect(found).to.have.members(real);
    });
  });
});
