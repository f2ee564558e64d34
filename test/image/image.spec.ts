import { expect } from 'chai';
import { noVirtualBoard, VirtualBoard, type VirtualBoardName } from '../support/virtual-board.ts';

/** The image, of `npm run image -- --plain`. */
const image = process.env['SVC_TEST_IMAGE'];
const board: VirtualBoardName = image?.includes('amd64') === true ? 'generic-amd64' : 'generic-arm64';
const CARD = 'name: Field drone 7\nhotspot: {passphrase: guests only}\n';

describe(`the image for ${board}, started from a card`, function () {
  this.timeout(900_000);
  let machine: VirtualBoard;

  before(async function () {
    if (image === undefined || (await noVirtualBoard(board)) !== null) return this.skip();
    machine = await VirtualBoard.insert({ board, image, files: { 'svc.yaml': CARD } });
    await machine.start();
  });
  after(async () => machine?.destroy());

  const out = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await machine.shell(line);
    expect(code, `${line}: ${stdout}${stderr}`).to.equal(0);
    return stdout.trim();
  };

  it('is ready, with nothing failed', async () => {
    expect(await out('systemctl is-system-running --wait || systemctl --failed --no-legend')).to.equal(
      'running',
    );
  });

  it('has a system that is read-only, and all of the card for what is kept', async () => {
    expect(
      await out('findmnt -no FSTYPE /; findmnt -no FSTYPE,OPTIONS /run/svc-image/system || true'),
    ).to.match(/^overlay\b/);
    expect(Number(await out('df --output=size -B1M / | tail -n 1'))).to.be.greaterThan(2500);
    expect(await out('cat /run/svc-image/volatile 2>/dev/null; cat /run/svc-image/state')).to.match(
      /^\/dev\/vda3$/,
    );
  });

  it('keeps its journal in memory, has zram, a watchdog if the board has one, and no password', async () => {
    expect(
      await out(
        'ls /var/log/journal 2>/dev/null | wc -l; ls -d /run/log/journal; swapon --noheadings --show=NAME',
      ),
    ).to.equal('0\n/run/log/journal\n/dev/zram0');
    expect(await out("getent shadow | cut -d: -f2 | grep -v '^[!*]' || true")).to.equal('');
    expect(await out('sshd -T | grep -E "^(passwordauthentication|permitrootlogin) "')).to.equal(
      'permitrootlogin without-password\npasswordauthentication no',
    );
  });

  it('became what the card says', async () => {
    expect(await out('hostname')).to.equal('field-drone-7');
    expect(await out('cat /boot/firmware/svc.yaml')).to.not.include('guests only');
  });

  it('loses nothing in ten power cuts', async () => {
    const key = (await out('svc pair --user test')).split('\n').at(-1) ?? '';
    for (let round = 0; round < 10; round++) {
      await out(
        `svc config set agent.name "Drone ${round}" && echo ${round} >/var/lib/svc/round && sync /var/lib/svc/round`,
      );
      await machine.cut();
      await machine.start();
      expect(await out('cat /var/lib/svc/round; svc config get agent.name')).to.equal(
        `${round}\nDrone ${round}`,
      );
      const status = await fetch(`${machine.url}/api/status`, { headers: { 'x-svc-key': key } });
      expect(status.status, `round ${round}`).to.equal(200);
    }
  });
});
