import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Map;
import java.util.Properties;

public class Client {
    static final Map<String, String> MODES = Map.of(
        "default", "",
        "disable", "&sslMode=disable",
        "trust", "&sslMode=trust",
        "verify-ca", "&sslMode=verify-ca&serverSslCert={ca}",
        "verify-full", "&sslMode=verify-full&serverSslCert={ca}");

    public static void main(String[] words) throws Exception {
        Driver driver = DriverManager.drivers().filter(one -> one.getClass().getName().startsWith("org.mariadb")).findFirst().get();
        if (words[0].equals("version")) {
            System.out.println(Path.of(driver.getClass().getProtectionDomain().getCodeSource().getLocation().toURI())
                .getFileName().toString().replaceAll("[^0-9]*([0-9.]+)\\.jar", "$1"));
            return;
        }
        String told = System.getenv("SEALION_SETTINGS");
        String options = (words[0].equals("settings") ? (told.isEmpty() ? "" : "&" + told) : MODES.get(words[0]))
            .replace("{ca}", System.getenv("SEALION_CA"));
        String front = System.getenv().getOrDefault("SEALION_FRONT",
            "jdbc:mariadb://" + System.getenv("SEALION_HOST") + ":" + System.getenv("SEALION_PORT"));
        // With several hosts it would begin again 120 times when none takes it.
        String once = System.getenv("SEALION_FRONT") == null ? "" : "&retriesAllDown=1";
        String url = front + "/?connectTimeout=5000&socketTimeout=5000" + once + options;
        Properties login = new Properties();
        login.put("user", System.getenv("SEALION_USER"));
        login.put("password", System.getenv("SEALION_PASSWORD"));
        try (Connection connection = driver.connect(url, login); Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT 1").next();
        }
    }
}
