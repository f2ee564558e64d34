#!/bin/sh
# Installs a built node: copies it to /opt/svc, makes its user, installs and enables its units. May be run again to upgrade.
#   npm ci && npm run build && npm prune --omit=dev && sudo deploy/install.sh
#   --destdir DIR  below DIR instead of /, without touching users or systemd (packages, tests)
#   --force        even while the vehicle is armed: the node and with it the link restarts
set -eu
umask 022

destdir=
force=
while [ $# -gt 0 ]; do
  case $1 in
    --destdir) destdir=${2:?--destdir needs a folder}; shift 2 ;;
    --force) force=1; shift ;;
    -h | --help) sed -n '2,5s/^# *//p' "$0"; exit 0 ;;
    *) echo "install.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd)
[ -f "$root/dist/bin/supervisor/main.js" ] || { echo "install.sh: $root/dist is not built; run: npm run build" >&2; exit 1; }
[ -x "$root/node_modules/.bin/node" ] || { echo "install.sh: $root/node_modules is missing; run: npm ci" >&2; exit 1; }
[ -n "$destdir" ] || [ "$(id -u)" -eq 0 ] || { echo 'install.sh: needs root' >&2; exit 1; }

# The same guard as the API's. Before anything is copied: an old supervisor would restart its processes from the new tree.
if [ -z "$destdir$force" ] && [ -x /usr/local/bin/svc ] && systemctl is-active --quiet svc.service &&
  timeout 20 /usr/local/bin/svc status --json 2>/dev/null | grep -q '"armed": *true'; then
  echo 'install.sh: the vehicle is armed, and its link would restart. Land and disarm, or use --force.' >&2
  exit 1
fi

# The new tree stands beside the old one until it is complete. If mv can exchange the two (coreutils 9.5), a power cut
# leaves one of them in place; otherwise there is a moment between two renames with neither, and this script must be run
# again.
opt=$destdir/opt
mkdir -p "$opt"
new=$opt/.svc.new
rm -rf "$new"
mkdir "$new"
cp -R "$root/dist" "$root/node_modules" "$new/"
# Without the developer files of libraries: types, source maps, descriptions, tests, headers.
find "$new/node_modules" -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' \) \
  ! -iname 'licen[cs]e*' -delete
rm -rf "$new"/node_modules/*/test "$new"/node_modules/*/examples
rm -rf "$new"/node_modules/node-linux-*/include "$new"/node_modules/node-linux-*/share
install -D -m 0755 "$root/bin/svc.js" "$new/bin/svc.js"
install -D -m 0755 "$root/bin/svc-mcp.js" "$new/bin/svc-mcp.js"
# The command: svc.js alone needs a Node on the PATH, and the machine may have none but ours.
cat >"$new/bin/svc" <<'COMMAND'
#!/bin/sh
exec /opt/svc/node_modules/.bin/node /opt/svc/bin/svc.js "$@"
COMMAND
chmod 0755 "$new/bin/svc"
cp -R "$root/package.json" "$root/README.md" "$root/SECURITY.md" "$root/LICENSE" "$root/docs" "$new/"
# `svc plugin init` and `sdk` write from here.
mkdir "$new/deploy"
cp -R "$root/deploy/extensions" "$new/deploy/"
# The user svc must be able to read it, whatever the umask of the checkout was.
chmod -R u=rwX,go=rX "$new"
sync -f "$new"
if [ -d "$opt/svc" ]; then
  rm -rf "$opt/.svc.old"
  mv --exchange -T "$new" "$opt/svc" 2>/dev/null || {
    mv -T "$opt/svc" "$opt/.svc.old"
    mv -T "$new" "$opt/svc"
  }
else
  mv -T "$new" "$opt/svc"
fi
sync -f "$opt"
rm -rf "$new" "$opt/.svc.old"

for unit in svc.service svc-helper.service svc-helper.socket svc-plugin@.service svc-plugins.slice svc-wfb.service; do
  install -D -m 0644 "$root/deploy/systemd/$unit" "$destdir/etc/systemd/system/$unit"
done
install -D -m 0644 "$root/deploy/sysusers.d/svc.conf" "$destdir/usr/lib/sysusers.d/svc.conf"
install -D -m 0644 "$root/deploy/tmpfiles.d/svc.conf" "$destdir/usr/lib/tmpfiles.d/svc.conf"
mkdir -p "$destdir/usr/local/bin"
ln -sfn /opt/svc/bin/svc "$destdir/usr/local/bin/svc"
[ -z "$destdir" ] || exit 0

if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers svc.conf
else
  for group in svc dialout video; do
    getent group "$group" >/dev/null || groupadd --system "$group"
  done
  getent passwd svc >/dev/null ||
    useradd --system --gid svc --comment 'svc node' --home-dir /var/lib/svc --no-create-home --shell /usr/sbin/nologin svc
fi
if command -v systemd-tmpfiles >/dev/null; then
  systemd-tmpfiles --create svc.conf
else
  install -d -o svc -g svc -m 0750 /etc/svc
fi
systemctl daemon-reload
systemctl enable svc-helper.socket svc.service
# This also stops a running helper of the former version.
systemctl restart svc-helper.socket
systemctl restart svc.service
