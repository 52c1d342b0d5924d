'use strict';
const fs = require('fs');
const { spawnSync } = require('child_process');
const mysql = require('mysql');

const mode = process.argv[2];
if (mode === 'version') {
  console.log(require('mysql/package.json').version);
  process.exit();
}
// Node reads its own store once, when it starts: a machine whose store has the CA is made by starting it again.
if (process.env.NODE_EXTRA_CA_CERTS !== process.env.SEALION_CA) {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: process.env.SEALION_CA };
  process.exit(spawnSync(process.execPath, process.argv.slice(1), { env, stdio: 'inherit' }).status ?? 1);
}
// What SEALION_SETTINGS says; "ssl.ca" is the key "ca" of what "ssl" is.
function told() {
  const options = {};
  for (const [key, value] of Object.entries(JSON.parse(process.env.SEALION_SETTINGS))) {
    const [outer, inner] = key.split('.');
    if (inner === undefined) options[outer] = value === '{}' ? {} : value;
    else (options[outer] ??= {})[inner] = inner === 'ca' ? fs.readFileSync(value) : value;
  }
  return options;
}
const ca = fs.readFileSync(process.env.SEALION_CA);
const MODES = {
  default: {},
  system: { ssl: { rejectUnauthorized: true } },
  unverified: { ssl: { rejectUnauthorized: false } },
  ca: { ssl: { ca } },
};
const connection = mysql.createConnection({
  host: process.env.SEALION_HOST,
  port: Number(process.env.SEALION_PORT),
  user: process.env.SEALION_USER,
  password: process.env.SEALION_PASSWORD,
  connectTimeout: 5000,
  ...(mode === 'settings' ? told() : MODES[mode]),
});
connection.query('SELECT 1', (error) => {
  if (error) {
    console.error(error.message);
    process.exit(1);
  }
  connection.end(() => process.exit(0));
});
